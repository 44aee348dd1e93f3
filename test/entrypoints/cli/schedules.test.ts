import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ScheduleRow } from '../../../src/ports/firings.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { countersign, countersignProcess, jobsIn, parsed, seed } from './support.ts';

const newFolder = temporaryFolders();

const row = (index: number, nextAt: string): ScheduleRow => ({
  repositoryId: 1,
  chain: `nightly-${index}`,
  trigger: 'every 1d',
  installationId: 5,
  repository: 'acme/shop',
  schedule: {
    schedule: 'every 1d',
    timezone: 'UTC',
    catchup: 'last',
    catchupWindowMs: 86_400_000,
    overlap: 'skip',
  },
  nextAt: new Date(nextAt),
});

/** Schedules that came due before this process began. */
async function world(count: number) {
  const cwd = newFolder();
  const path = join(cwd, 'countersign.db');
  const midnight = new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000).toISOString();
  await seed(path, (storage) =>
    storage.transaction(async (tx) => {
      for (let index = 0; index < count; index++) await tx.schedules.put(row(index, midnight));
    }),
  );
  return { path, at: { cwd, env: { DATABASE_URL: `sqlite:${path}` } } };
}

test('chain check fires what is due, once, and says when the next is', async () => {
  const { path, at } = await world(1);
  expect(parsed(await countersign(['chain', 'check', '--json'], at))).toMatchObject({
    evaluated: 1,
    firings: [{ chain: 'nightly-0', status: 'due', schedule: 'every 1d' }],
  });
  expect((await countersign(['chain', 'check'], at)).stdout).toContain('0 schedules due. The next is due ');
  expect(jobsIn(path)).toMatchObject([
    { kind: 'event', payload: { event: { kind: 'schedule.fired', chain: 'nightly-0' } } },
  ]);
  expect((await countersign(['chain', 'schedules'], at)).stdout).toContain('nightly-0');
});

test('two processes that evaluate at once fire each of 250 schedules once', { tags: 'slow' }, async () => {
  const { path, at } = await world(250);
  const both = await Promise.all([
    countersignProcess(['chain', 'check', '--json'], at),
    countersignProcess(['chain', 'check', '--json'], at),
  ]);
  const fired = both.flatMap((ended) => (parsed(ended) as { firings: { chain: string }[] }).firings);
  expect(new Set(fired.map(({ chain }) => chain)).size).toBe(250);
  expect(fired).toHaveLength(250);
  expect(jobsIn(path)).toHaveLength(250);
});
