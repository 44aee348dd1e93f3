import type { Json } from '../../core/canonical.ts';
import type { Reason } from '../../domain/explanation/reason.ts';
import type { SkillArtifact } from '../../domain/skill/skill.ts';
import type { Spent } from '../../ports/model.ts';

/** One kind of artifact; what it gives back is not believed until it was validated. Only some kinds ever wait. */
export interface ArtifactHandler<Context, Output extends ArtifactOutput | Waiting = ArtifactOutput> {
  readonly kind: SkillArtifact['kind'];
  execute(artifact: SkillArtifact, context: Context): Promise<Output>;
}

export type ArtifactOutput = (
  | { kind: 'done'; value: Json; log: string }
  | { kind: 'failed'; because: string; retryable: boolean; log: string }
) & {
  /** Of what it had carried out in its place: what was asserted softly and does not hold. */
  warnings?: readonly string[];
  /** The values that a module was called with, from which examples for it can be made. */
  inputs?: { [name: string]: Json };
  /** What it asked a model on a way of its own, as agents do; every other question is watched. */
  asked?: { model: string; prompt: string; spent: Spent };
};

/** What it needs is made by CI, which is not done yet; it is carried out again then. */
export interface Waiting {
  kind: 'waits';
  until: Date;
  reason: Reason;
}

/** A handler of any kind. */
export type AnyHandler<Context> = ArtifactHandler<Context, ArtifactOutput | Waiting>;
