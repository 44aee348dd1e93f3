import { Registry } from 'prom-client';
import { createEmbeddedQueue } from '../../src/adapters/embedded-queue/embedded.ts';
import { openStorage } from '../../src/composition/storage.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { createIntake } from '../../src/entrypoints/webhook/delivery/intake.ts';
import { createHttpServer } from '../../src/entrypoints/webhook/server.ts';
import { SECRET } from './deliveries.ts';
import { listenAndReport } from './listen.ts';

/**
 * The real server, intake and database. No worker processes the queue, just as none processes the peer's
 * rows.
 */
const [path = ''] = process.argv.slice(2);
const storage = await openStorage(`sqlite:${path}`);
const queue = createEmbeddedQueue({ storage, clock: systemClock, log: silentLog });

listenAndReport(
  createHttpServer({
    secret: SECRET,
    intake: createIntake({ storage, queue, clock: systemClock }),
    health: {},
    metrics: new Registry(),
    log: silentLog,
  }),
);
