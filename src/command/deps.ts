import type { Clock } from '../core/clock.ts';
import type { Ids } from '../core/ids.ts';
import type { Log } from '../core/log.ts';
import type { Outbox } from '../effect/outbox.ts';
import type { GitHub } from '../github/github.ts';
import type { Queue } from '../queue/queue.ts';
import type { ConfigurationLoader } from '../run/configuration.ts';
import type { Engine } from '../run/engine.ts';
import type { Storage } from '../storage/storage.ts';

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
