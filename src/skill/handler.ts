import type { Json } from '../core/canonical.ts';
import type { Reason } from '../run/reason.ts';
import type { SkillArtifact } from './package/skill.ts';

/** One kind of artifact; what it gives back is not believed until it was validated. */
export interface ArtifactHandler<Context> {
  readonly kind: SkillArtifact['kind'];
  execute(artifact: SkillArtifact, context: Context): Promise<ArtifactOutput>;
}

export type ArtifactOutput =
  | { kind: 'done'; value: Json; log: string }
  | { kind: 'failed'; because: string; retryable: boolean; log: string }
  /** What it needs is made by CI, which is not done yet; it is carried out again then. */
  | { kind: 'waits'; until: Date; reason: Reason };
