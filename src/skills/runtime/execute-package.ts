import { pathOf } from '../../domain/skill/place.ts';
import type { SkillArtifact } from '../../domain/skill/skill.ts';
import type { AnyHandler } from './handler.ts';
import type { SkillContext } from './skill-context.ts';
import type { ExecuteArtifact, ExecutedArtifact } from './trace/execute-artifact.ts';
import { variantFor } from './variant.ts';

/** What executing a package needs. */
export interface PackageTools {
  /** One handler for each kind of artifact that can be executed here. */
  handlers: readonly AnyHandler<SkillContext>[];
  /** The family of the configured model; `null` if there is none. */
  modelFamily: string | null;
  executeArtifact: ExecuteArtifact;
}

/** Why nothing of a package was executed. */
export type Unusable =
  | { kind: 'unusable'; because: 'only_described' }
  | { kind: 'unusable'; because: 'no_handler'; artifact: SkillArtifact };

/**
 * Executes a package: the wanted file, or its first after the SKILL.md.
 * @param wanted the path of a file
 */
export async function executePackage(
  context: SkillContext,
  { handlers, modelFamily, executeArtifact }: PackageTools,
  wanted?: string,
): Promise<ExecutedArtifact | Unusable> {
  const { artifacts } = context.skill;
  const first = artifacts.find(
    (one) => one.kind !== 'description' && (wanted ?? pathOf(one)) === pathOf(one),
  );
  const artifact = first && variantFor(artifacts, first.name, modelFamily);
  if (!artifact) return { kind: 'unusable', because: 'only_described' };
  const handler = handlers.find(({ kind }) => kind === artifact.kind);
  if (!handler) return { kind: 'unusable', because: 'no_handler', artifact };
  return executeArtifact(handler, artifact, context);
}
