import type { Clock } from '../../core/clock.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { ConfigurationLoader } from '../../engine/configuration/configuration.ts';
import type { Outbox } from '../../engine/effects/outbox.ts';
import type { Engine } from '../../engine/runs/engine.ts';
import type { GitHub } from '../../ports/github.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Storage } from '../../ports/storage.ts';

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
