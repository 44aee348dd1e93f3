import { expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../../../src/core/log.ts';
import { bodyJobs } from '../../../src/entrypoints/retention/pack-bodies.ts';
import { ManualClock } from '../../support/clock.ts';
import { sqliteTestDatabase } from '../../support/temp.ts';

const MINUTE = 60_000;

it('a dry run that somebody asked for in Studio is deleted within two hours, also if nobody asks for another', async () => {
  const clock = new ManualClock('2026-03-02T09:00:00.000Z');
  const { storage, remove } = await sqliteTestDatabase(clock);
  onTestFinished(remove);
  const jobs = bodyJobs({ storage, queue: { enqueue: async () => undefined }, clock, log: silentLog });
  const pass = () => jobs.run({}, new AbortController().signal);
  await storage.transaction((tx) =>
    tx.dryRuns.insert({
      id: 'one',
      personId: 1,
      repositoryId: 7,
      repository: 'octo/app',
      pullRequest: null,
      chain: 'nightly',
      isPasted: false,
      begunAt: clock.now(),
    }),
  );
  clock.advance(60 * MINUTE);
  await pass();
  expect(await storage.read.dryRuns.get('one')).toBeDefined();
  clock.advance(60 * MINUTE);
  await pass();
  expect(await storage.read.dryRuns.get('one')).toBeUndefined();
});
