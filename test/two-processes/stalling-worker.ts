// Does one job: says that it is working, waits for a line, then writes, and reports the result. Argument: the database's URL.
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createEmbeddedQueue } from '../../src/adapters/embedded-queue/embedded.ts';
import { openStorage } from '../../src/composition/storage.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { everyKind } from '../contract/every-kind.ts';
import { writeMarker } from './marker.ts';

const storage = await openStorage(process.argv[2] ?? '');
const queue = createEmbeddedQueue({ storage, clock: systemClock, log: silentLog, leaseMs: 600 });
const input = createInterface({ input: process.stdin });
queue.start({
  handlers: everyKind(async () => {
    process.stdout.write('working\n');
    await once(input, 'line');
    const said = await storage
      .transaction((tx) => writeMarker(tx, 'too late'))
      .catch((error: unknown) => error);
    process.stdout.write(`${JSON.stringify(said ?? 'written')}\n`);
    return { kind: 'done' };
  }),
  onRetriesExhausted: async () => undefined,
});
