import type { z } from 'zod';
import type { Json } from '../../core/canonical.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { BlobKind } from '../../domain/artifact/artifact.ts';
import type { Expected } from '../../domain/artifact/contract.ts';
import type { Chain, Step } from '../../domain/chain/chain.ts';
import type { InputValues } from '../../domain/chain/chain-inputs.ts';
import type { Effect, EffectRow } from '../../domain/effect/effect.ts';
import type { Reason } from '../../domain/explanation/reason.ts';
import type { Slot } from '../../domain/expression/state-slot.ts';
import type { ActionResult } from '../../domain/outcome/action-result.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { ReviewVerdict } from '../../domain/outcome/review-verdict.ts';
import type { Push } from '../../domain/policy/authorship.ts';
import type { Capability } from '../../domain/policy/capability.ts';
import type { Invocation, RunState, Session, WaitingFor } from '../../domain/run/run.ts';
import type { GitHubReader, Repo } from '../../ports/github.ts';
import type { Shell } from '../../ports/shell.ts';

/** A file that a session leaves, such as an analyzer's full output or a report. */
export interface Blob {
  kind: BlobKind;
  name: string;
  data: string | Uint8Array;
}

/** The result of one attempt at a skill or a plain action. Only approvals can change an approval. */
export type StepResult = PlainResult & { readonly approval?: never };

export type PlainResult =
  | { kind: 'done'; outcome: Outcome; blobs?: Blob[]; desiredEffects?: DesiredEffect[] }
  | {
      kind: 'waits';
      for: Exclude<WaitingFor, 'approval'>;
      until: Date;
      reason: Reason;
      /** Requested now; the step waits for what GitHub answers. */
      desiredEffects?: DesiredEffect[];
      /** Begun now, as a step of this run. */
      begins?: ChildRun;
    }
  | { kind: 'failed'; reason: Reason; retryable: boolean; blobs?: Blob[] }
  /** The rollout does not let the step ask, or know what comes of what it writes. The outcome says what it would have done. */
  | { kind: 'withheld'; outcome: ActionResult; reason: Reason; desiredEffects?: DesiredEffect[] }
  /** The run's subject no longer exists: another head, a closed pull request. */
  | { kind: 'superseded'; reason: Reason };

/** A run of another chain that a step begins. */
export interface ChildRun {
  chain: Chain;
  values: InputValues;
  /** As `trigger.input_<key>`, for a chain that declares no inputs. */
  members: Readonly<Record<string, string>>;
}

/** An effect that a step requests. Requesting it twice is harmless, because the key is the same. */
interface DesiredEffect {
  key: string;
  effect: Effect;
}

/**
 * What every handler can read. Nothing in it writes to GitHub, asks people or merges: a step requests effects
 * with its result. Approvals and merges need an `ApprovalContext`, which no skill and no plain action gets.
 */
export interface StepContext {
  readonly state: RunState;
  readonly step: Step;
  readonly invocation: Invocation;
  readonly session: Session;
  /** The step's `with:` values with evaluated expressions. */
  readonly inputs: Readonly<Record<string, Json>>;
  /** One of the `with:` texts. The values of its expressions pass through the encoder. */
  text(input: string, encode: (value: string) => string): string | undefined;
  readonly repo: Repo;
  readonly reader: GitHubReader;
  /** `time`: no event has arrived, so the attempt should be cheap. */
  readonly because: 'time' | 'event';
  readonly appId: number;
  /** The pushes of these commits that webhooks reported. */
  pushesTold(repositoryIds: readonly number[], shas: readonly string[]): Promise<Push[]>;
  /** Whether the operator of this server has named such a webhook. */
  hasWebhook(name: string): boolean;
  readonly shell: Shell;
  /** For what it prints while it works, which people can follow. Only a result's blobs are kept. */
  print(part: string | Uint8Array): void;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** The effects that this step has requested, whose keys begin so. */
  requested(key: string): Promise<EffectRow[]>;
  /** The run of another chain that this session began. */
  childRun(): Promise<RunState | undefined>;
  /** A chain of the commit that governs the run, or why no run of it can begin. */
  chainInForce(name: string): Promise<{ chain: Chain } | { because: string }>;
  /** The number of this review of the pull request, from 1. */
  round(): Promise<number>;
  /** The newest review of the pull request by the same step of an earlier run. */
  earlierReview(): Promise<ReviewVerdict | undefined>;
  /**
   * The review of this head that stays as it is for the other files, if this attempt is about one file. `undefined` if it is
   * not there any more.
   */
  restOfReview(): Promise<ReviewVerdict | undefined>;
}

/** What a skill or an action declares. */
export interface StepDeclaration {
  readonly name: string;
  /** What it requires. The policy checks it at every attempt. */
  readonly capability: Capability;
  /** The `with:` of an action. Skills read theirs themselves. */
  readonly input?: z.ZodObject;
  /** The artifacts that it always produces. A chain's step can require others or more. */
  readonly artifactDefaults?: readonly Expected[];
  /** It works for long, with analyzers, programs or models, so its sessions run in the slots of reviews. */
  readonly isReview?: true;
  /** The slots of the run's working memory that its outcomes fill; none by default. */
  readonly cognitiveHints?: { readonly produces: readonly Slot[] };
}

/** Something that a chain's step can name: `skill: <name>` or `action: <name>`. */
export interface StepHandler extends StepDeclaration {
  /**
   * A property, not a method, so that the compiler rejects a handler that takes more than a `StepContext`.
   */
  readonly run: (context: StepContext) => Promise<StepResult>;
  /**
   * Set if the outcome can change for the same head, as CI's can: reads it again, so that the gate judges the
   * current state.
   */
  readonly refresh?: (context: StepContext) => Promise<Outcome | undefined>;
  /** The `with:` of a built-in skill, for lint; it reads its inputs itself. */
  readonly inputs?: z.ZodObject;
  /** Replaces it in steps that ask for a countersign first, which may do more. Gates never use it. */
  readonly countersigned?: StepHandler;
}

export function pullRequestOf({ state }: Pick<StepContext, 'state'>): number {
  const { pullRequest } = state.run;
  if (pullRequest === null) throw new Error(`run ${state.run.id} is not about a pull request`);
  return pullRequest;
}
