import type { Json } from '../../core/canonical.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Expected } from '../../domain/artifact/contract.ts';
import type { Step } from '../../domain/chain/chain.ts';
import type { Effect } from '../../domain/effect/effect.ts';
import type { Reason } from '../../domain/explanation/reason.ts';
import type { Slot } from '../../domain/expression/state-slot.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { ReviewVerdict } from '../../domain/outcome/review-verdict.ts';
import type { Capability } from '../../domain/policy/capability.ts';
import type { Invocation, RunState, Session, WaitingFor } from '../../domain/run/run.ts';
import type { GitHubReader, Repo } from '../../ports/github.ts';

/** A large text a session leaves behind, such as an analyzer's whole output. */
export interface Blob {
  kind: 'log' | 'diff' | 'analyzer_output';
  name: string;
  data: string | Uint8Array;
}

/** What a skill or a plain action came to at one attempt. What becomes of a question to people, only approvals can say. */
export type StepResult = PlainResult & { readonly approval?: never };

export type PlainResult =
  | { kind: 'done'; outcome: Outcome; blobs?: Blob[]; desiredEffects?: DesiredEffect[] }
  | { kind: 'waits'; for: Exclude<WaitingFor, 'approval'>; until: Date; reason: Reason }
  | { kind: 'failed'; reason: Reason; retryable: boolean; blobs?: Blob[] }
  /** The run is about something that is no more: another head, a closed pull request. */
  | { kind: 'superseded'; reason: Reason };

/** An effect that a step requests. Requesting it twice is harmless, because the key is the same. */
interface DesiredEffect {
  key: string;
  effect: Effect;
}

/**
 * What every handler can read. Nothing in it writes to GitHub, asks people or merges: a step requests effects with its result.
 * What approvals and merges need besides is an `ApprovalContext`, which no skill and no plain action is given.
 */
export interface StepContext {
  readonly state: RunState;
  readonly step: Step;
  readonly invocation: Invocation;
  readonly session: Session;
  /** The step's `with:` values with their expressions filled in. */
  readonly inputs: Readonly<Record<string, Json>>;
  /** One of the `with:` texts, as written but for its filled-in values, which pass the encoder. */
  text(input: string, encode: (value: string) => string): string | undefined;
  readonly repo: Repo;
  readonly reader: GitHubReader;
  readonly appId: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Which review of this pull request this is, from 1. */
  round(): Promise<number>;
  /** The newest review that the same step of an earlier run came to for this pull request. */
  earlierReview(): Promise<ReviewVerdict | undefined>;
}

/** What a skill or an action says of itself. */
export interface StepDeclaration {
  readonly name: string;
  /** What it takes to use it; the policy checks it at every attempt. */
  readonly capability: Capability;
  /** What it leaves behind whenever it is done; a chain's step may ask for other or more. */
  readonly artifactDefaults?: readonly Expected[];
  /** The slots of the run's working memory that its outcomes fill; none when left out. */
  readonly cognitiveHints?: { readonly produces: readonly Slot[] };
}

/** Something a chain's step can name: `skill: <name>` or `action: <name>`. */
export interface StepHandler extends StepDeclaration {
  /** A property, not a method, so that the compiler refuses a handler that takes more than a `StepContext`. */
  readonly run: (context: StepContext) => Promise<StepResult>;
  /**
   * Set when the outcome can change while the head stays the same, as CI's does: reads it again, so that the gate
   * judges what is true now.
   */
  readonly refresh?: (context: StepContext) => Promise<Outcome | undefined>;
}

export function pullRequestOf({ state }: Pick<StepContext, 'state'>): number {
  const { pullRequest } = state.run;
  if (pullRequest === null) throw new Error(`run ${state.run.id} is not about a pull request`);
  return pullRequest;
}
