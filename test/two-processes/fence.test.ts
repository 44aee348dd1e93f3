// @module-tag slow
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createEmbeddedQueue } from '../../src/adapters/embedded-queue/embedded.ts';
import { openStorage } from '../../src/composition/storage.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { everyKind } from '../contract/every-kind.ts';
import { rawJob } from '../contract/raw-job.ts';
import { temporaryFolders } from '../support/temp.ts';
import { useChildren } from './child.ts';
import { writeMarker } from './marker.ts';

const newFolder = temporaryFolders();
const start = useChildren();

it('a process that got no processor time for longer than its lease cannot write over the one that took its job', async () => {
  const url = `sqlite:${join(newFolder(), 'test.db')}`;
  const storage = await openStorage(url);
  const queue = createEmbeddedQueue({ storage, clock: systemClock, log: silentLog, pollMs: 50 });
  await storage.transaction((tx) => queue.enqueue(tx, rawJob({ kind: 'wake', key: 'a', payload: null })));
  const worker = start('stalling-worker.ts', [url]);
  await worker.line(/working/);
  worker.signal('SIGSTOP');

  const taken: number[] = [];
  queue.start({
    handlers: everyKind(async (job) => {
      taken.push(job.attempts);
      await storage.transaction((tx) => writeMarker(tx, 'in time'));
      return { kind: 'done' };
    }),
    onRetriesExhausted: async () => undefined,
  });
  await queue.idle();
  expect(taken).toEqual([1]);

  worker.write('go on');
  worker.signal('SIGCONT');
  expect(await worker.line(/written|code/)).toContain('queue.lease_lost');
  expect((await storage.read.pullRequests.get(1, 1))?.repository).toBe('in time');
  await queue.stop(1_000);
  await storage.close();
});
