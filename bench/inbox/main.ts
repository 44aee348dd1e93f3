import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openInbox } from '../../src/adapters/sqlite/inbox.ts';

/**
 * What it costs to record one delivery of 24 KB at a time in the inbox, with a log that has its space already and with
 * one that takes it as it grows. Both take turns. No drain runs: what was recorded counts as taken three deliveries
 * later.
 */
const ROUNDS = 5;
const DELIVERIES = 800;
const LAG = 3;

const body = Buffer.from(randomBytes(12_000).toString('hex'));
const ALLOCATED = 'space from the start';
const GROWS = 'grows';
const figures: Record<string, { ms: number[]; cpuUs: number[] }> = {
  [ALLOCATED]: { ms: [], cpuUs: [] },
  [GROWS]: { ms: [], cpuUs: [] },
};
for (let round = 0; round < ROUNDS; round++) {
  for (const log of round % 2 === 0 ? [ALLOCATED, GROWS] : [GROWS, ALLOCATED]) {
    const { ms, cpuUs } = record(log === ALLOCATED);
    figures[log]?.ms.push(ms);
    figures[log]?.cpuUs.push(cpuUs);
  }
}
console.table(
  Object.fromEntries(
    Object.entries(figures).map(([log, { ms, cpuUs }]) => [
      log,
      {
        'ms a commit, median': Number(median(ms).toFixed(3)),
        'µs of CPU a commit': Math.round(median(cpuUs)),
      },
    ]),
  ),
);

function record(allocated: boolean): { ms: number; cpuUs: number } {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
  const inbox = openInbox(join(folder, 'inbox'));
  if (allocated) inbox.allocateLog();
  const times: number[] = [];
  const before = process.cpuUsage();
  for (let number = 1; number <= DELIVERIES; number++) {
    const begun = performance.now();
    inbox.record([
      {
        guid: randomUUID(),
        event: 'pull_request',
        action: 'opened',
        installationId: 1,
        body,
        receivedAt: new Date(),
        queueKey: 'repo:1',
      },
    ]);
    times.push(performance.now() - begun);
    if (number > LAG) inbox.forget(number - LAG);
  }
  const { user, system } = process.cpuUsage(before);
  inbox.close();
  rmSync(folder, { recursive: true });
  return { ms: median(times), cpuUs: (user + system) / DELIVERIES };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
