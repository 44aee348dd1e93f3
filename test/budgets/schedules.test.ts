import { expect, test } from 'vitest';
import { evaluateSchedules } from '../../src/engine/runs/schedules.ts';
import type { ScheduleRow } from '../../src/ports/firings.ts';
import { start } from '../scenario/support.ts';
import { watchDatabases } from '../support/statements.ts';

test('1,000 schedules that are due in one minute take 11 transactions, and five statements for each', async () => {
  const watch = watchDatabases();
  const harness = await start();
  await harness.settle();
  const { storage, queue } = harness.app;
  const now = harness.clock.now();
  const schedule = {
    schedule: 'every 1d',
    timezone: 'UTC',
    catchup: 'last',
    catchupWindowMs: 86_400_000,
    overlap: 'skip',
  } as const;
  await queue.stop(0);
  await storage.transaction(async (tx) => {
    for (let index = 0; index < 1_000; index++) {
      const place = { repositoryId: index, chain: 'nightly', installationId: 5, repository: 'acme/shop' };
      const row: ScheduleRow = { ...place, trigger: 'every 1d', schedule, nextAt: now };
      await tx.schedules.put(row);
    }
  });
  let next = 0;
  const ids = { next: (prefix: string) => `${prefix}_${next++}` };
  watch.reset();
  const rounds: number[] = [];
  for (let last = -1; last !== 0; rounds.push(last)) {
    const done = await evaluateSchedules({ storage, queue, clock: harness.clock, ids }, 100);
    last = done.evaluated;
  }
  const { statements } = watch.work();
  watch.stop();
  expect(rounds).toEqual([...Array.from({ length: 10 }, () => 100), 0]);
  expect(statements).toBeLessThan(6_000);
  expect(await storage.read.firings.counts()).toEqual([{ status: 'due', reason: '', count: 1_000 }]);
});
