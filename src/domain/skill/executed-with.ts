import type { SkillPackage } from './package.ts';
import type { SkillArtifact } from './skill.ts';

/**
 * The artifacts that are executed when a step executes this one. For an analyzer, all analyzers of the
 * package, since a verdict of only some would look like one of all. For any other kind, only this one. The
 * assertions of each count, and each has a trace.
 */
export function executedWith(
  artifact: SkillArtifact,
  { artifacts }: Pick<SkillPackage, 'artifacts'>,
): SkillArtifact[] {
  return artifact.kind === 'analyzer' ? artifacts.filter(({ kind }) => kind === 'analyzer') : [artifact];
}
