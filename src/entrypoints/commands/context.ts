import type { Clock } from '../../core/clock.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { Chain } from '../../domain/chain/chain.ts';
import type { GivenAt, OrderedVerb } from '../../domain/command/order.ts';
import type { EventOf } from '../../domain/event/event.ts';
import type { Explanation } from '../../domain/explanation/explanation.ts';
import type { PullRequestNow } from '../../domain/run/plan.ts';
import type { RunFacts } from '../../domain/run/run.ts';
import type { Configuration, ConfigurationLoader } from '../../engine/configuration/configuration.ts';
import type { Outbox } from '../../engine/effects/outbox.ts';
import type { Engine } from '../../engine/runs/engine.ts';
import type { GitHub, PullRequest } from '../../ports/github.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Storage, Tx } from '../../ports/storage.ts';
import type { Issuer } from './command.ts';
import type { Would } from './eligibility.ts';

/** What hearing and carrying out commands takes. */
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
  /** Set when somebody pushed after the command was written. */
  moved: { from: string; to: string } | undefined;
  /** Who gave the command. */
  issuer: Issuer;
  /** Loaded when a command needs it. */
  configuration: Configuration | undefined;
  /** What a chain is for, as things are now; read when a run that was cancelled may be begun again. */
  governed: Governed | undefined;
  /** Why there is no run of the pull request as it is now; read when a command asks about the runs. */
  noRun: Explanation | undefined;
  /** Whoever gave the command as one who answers; read when a command needs it. */
  would: Would | undefined;
  /** When the command was given, among all that people gave. */
  given(verb: OrderedVerb): GivenAt;
}

/** The pull request as it is now, and the chains of the branch that governs it. */
export interface Governed {
  branch: string;
  now: PullRequestNow;
  chains: readonly Chain[];
  repository: RunFacts['repo'];
}
