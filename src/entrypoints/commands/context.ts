import type { Clock } from '../../core/clock.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { Chain } from '../../domain/chain/chain.ts';
import type { GivenAt, OrderedVerb } from '../../domain/command/order.ts';
import type { EventOf } from '../../domain/event/event.ts';
import type { Explanation } from '../../domain/explanation/explanation.ts';
import type { Rollout } from '../../domain/policy/rollout.ts';
import type { PullRequestNow } from '../../domain/run/plan.ts';
import type { RunFacts } from '../../domain/run/run.ts';
import type { Configuration, ConfigurationLoader } from '../../engine/configuration/configuration.ts';
import type { Outbox } from '../../engine/effects/outbox.ts';
import type { Engine } from '../../engine/runs/engine.ts';
import type { GitHub, PullRequest } from '../../ports/github.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Storage, Tx } from '../../ports/storage.ts';
import type { Issuer } from './command.ts';
import type { Respondent } from './eligibility.ts';

/** The dependencies of commands. */
export interface CommandDeps {
  storage: Storage;
  queue: Queue;
  github: GitHub;
  engine: Engine;
  outbox: Outbox;
  configuration: ConfigurationLoader;
  clock: Clock;
  ids: Ids;
  log: Log;
}

export interface CommandContext {
  deps: CommandDeps;
  tx: Tx;
  event: EventOf<'command.issued'>;
  pullRequest: PullRequest;
  /** Set if somebody pushed after the command was written. */
  moved: { from: string; to: string } | undefined;
  /** The author of the command. */
  issuer: Issuer;
  /** Loaded only if a command needs it. */
  configuration: Configuration | undefined;
  /** For which pull requests the chains are now. Read only if a cancelled run may start again. */
  governed: Governed | undefined;
  /** Why the current pull request has no run. Read only if a command asks about runs. */
  noRun: Explanation | undefined;
  /** Why other chains than those with a run did not begin. Read only if a command asks why. */
  others: Explanation | undefined;
  /** The author of the command as a possible approver. Read only if a command needs it. */
  respondent: Respondent | undefined;
  /** The files that the pull request changes and does not delete. Read only if a command names one. */
  paths: readonly string[] | undefined;
  /** When the command was given, in the order of all commands. */
  given(verb: OrderedVerb): GivenAt;
}

/** The current pull request, and the chains of its governing branch. */
export interface Governed {
  branch: string;
  now: PullRequestNow;
  chains: readonly Chain[];
  /** `undefined` if the branch does not exist. */
  rollout: Rollout | undefined;
  repository: RunFacts['repo'];
}
