// Starts a job, says so, and hangs until the test kills it. Argument: the database's URL.

import { createEmbeddedQueue } from '../../src/adapters/embedded-queue/embedded.ts';
import { openStorage } from '../../src/composition/storage.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import type { JobHandler } from '../../src/ports/queue.ts';
import { everyKind } from './every-kind.ts';
import { rawJob } from './raw-job.ts';

const storage = await openStorage(process.argv[2] ?? '');
const queue = createEmbeddedQueue({ storage, clock: systemClock, log: silentLog });
const hang: JobHandler = () => {
  process.stdout.write('working\n');
  return new Promise(() => undefined);
};
queue.start({ handlers: everyKind(hang), onRetriesExhausted: async () => undefined });
await storage.transaction((tx) => queue.enqueue(tx, rawJob({ kind: 'wake', key: 'a', payload: 'hang' })));
