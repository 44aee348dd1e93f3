import type { Json } from '../../core/canonical.ts';
import type { LeftFile } from '../../domain/artifact/left-files.ts';
import type { Reason } from '../../domain/explanation/reason.ts';
import type { SkillArtifact } from '../../domain/skill/skill.ts';
import type { Spent } from '../../ports/model.ts';

/** Executes one kind of artifact. Its result is validated before it counts. Only some kinds can wait. */
export interface ArtifactHandler<Context, Output extends ArtifactOutput | Waiting = ArtifactOutput> {
  readonly kind: SkillArtifact['kind'];
  execute(artifact: SkillArtifact, context: Context): Promise<Output>;
}

export type ArtifactOutput = (
  | { kind: 'done'; value: Json; log: string }
  | { kind: 'failed'; because: string; retryable: boolean; log: string }
) & {
  /** Files that it leaves, within the limits of `LeftFiles`. */
  files?: readonly LeftFile[];
  /** Soft assertions that failed in artifacts that it executed in turn. */
  warnings?: readonly string[];
  /** The inputs of a module, from which examples can be made. */
  inputs?: { [name: string]: Json };
  /** Model calls that bypass the watched model, as agents make them. */
  asked?: { model: string; prompt: string; spent: Spent };
};

/** It needs an artifact of CI that does not exist yet, and is executed again later. */
export interface Waiting {
  kind: 'waits';
  until: Date;
  reason: Reason;
}

/** A handler of any kind. */
export type AnyHandler<Context> = ArtifactHandler<Context, ArtifactOutput | Waiting>;
