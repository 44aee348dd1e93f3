import type { SkillPackage } from './package.ts';
import type { SkillArtifact } from './skill.ts';

/**
 * Which artifacts are executed when a step carries this one out: every analyzer of the package, since a verdict of some would look
 * like one of all; of any other kind, it alone. What each of them asserts counts, and each leaves a trace.
 */
export function executedWith(
  artifact: SkillArtifact,
  { artifacts }: Pick<SkillPackage, 'artifacts'>,
): SkillArtifact[] {
  return artifact.kind === 'analyzer' ? artifacts.filter(({ kind }) => kind === 'analyzer') : [artifact];
}
