import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openStorage } from '../../src/composition/storage.ts';
import { silentLog } from '../../src/core/log.ts';
import { type RetentionDeps, retain } from '../../src/entrypoints/retention/retention.ts';
import type { Blobs } from '../../src/ports/blobs.ts';
import type { Storage, Tx } from '../../src/ports/storage.ts';
import { fill } from './fill.ts';

/**
 * How long a pass of the retention takes, how long its longest transaction blocks all other writes, how the
 * file's size changes, and how long a delivery waits that arrives during the pass. Excludes the pauses of a
 * pass, because their length is a setting.
 */
const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '10000' },
    days: { type: 'string', default: '180' },
    folder: { type: 'string', default: tmpdir() },
    /** The size of a run's texts, relative to the usual. */
    share: { type: 'string', default: '1' },
    /** A database from before free pages could be returned. */
    'without-vacuum': { type: 'boolean', default: false },
  },
});
const DAY_MS = 86_400_000;
const PERIOD = 90 * DAY_MS;
const folder = mkdtempSync(join(options.folder, 'countersign-retention-'));
const path = join(folder, 'countersign.db');
const runs = Number(options.runs);
const now = new Date();
/** A fixed clock, so that a pass needs no waiting: each turn only reports its pause. */
const clock = { now: () => now };

try {
  await (await openStorage(`sqlite:${path}`)).close();
  const filling = performance.now();
  fill({ path, runs, days: Number(options.days), now, share: Number(options.share) });
  const filledMs = performance.now() - filling;
  const before = sizeOf(path);

  const storage = await openStorage(`sqlite:${path}`);
  const took: number[] = [];
  /** The CPU time: on a busy machine, elapsed time alone says little. */
  const worked: number[] = [];
  const gave: number[] = [];
  const watched: Storage = Object.assign(Object.create(storage), {
    read: storage.read,
    transaction: <T>(work: (tx: Tx) => Promise<T>) =>
      timed(took, () => storage.transaction((tx) => timed(worked, () => work(tx), cpuMs))),
    giveBack: (pages: number) =>
      options['without-vacuum'] ? Promise.resolve(false) : timed(gave, () => storage.giveBack(pages)),
  });
  const deleted = { blobs: 0 };
  const blobs: Pick<Blobs, 'delete'> = {
    async delete() {
      deleted.blobs += 1;
    },
  };
  const github = {
    reader: () => {
      throw new Error('nothing is asked');
    },
  };
  const deps: RetentionDeps = {
    storage: watched,
    blobs: blobs as Blobs,
    github,
    clock,
    log: silentLog,
    periods: { bodies: PERIOD, runs: PERIOD, artifacts: PERIOD, traces: PERIOD },
  };

  // One delivery every 20 ms during the pass, recorded as the server does.
  const waits: number[] = [];
  let n = 0;
  const sender = setInterval(() => {
    n += 1;
    const at = performance.now();
    const one = {
      guid: `live-${n}`,
      event: 'push',
      action: null,
      installationId: 7,
      body: Buffer.alloc(1_024),
      receivedAt: now,
      queueKey: 'repo:1',
    };
    void storage
      .transaction((tx) => tx.deliveries.record([one]))
      .then(() => waits.push(performance.now() - at));
  }, 20);

  const begun = performance.now();
  const cpuBefore = cpuMs();
  let turns = 0;
  let mostMb = 0;
  for (;;) {
    const result = await retain(deps, new AbortController().signal);
    turns += 1;
    mostMb = Math.max(mostMb, process.memoryUsage().rss / 1_048_576);
    if (result.kind === 'reschedule' && result.at.getTime() - now.getTime() > DAY_MS / 2) break;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const passMs = performance.now() - begun;
  const passCpuMs = cpuMs() - cpuBefore;
  clearInterval(sender);
  const [pass] = await storage.read.audit.page({ after: 0, limit: 1 });
  await storage.close();
  const rows = pass?.entry.deleted as Record<string, number>;
  console.table({
    'runs before': runs,
    'filled in (s)': seconds(filledMs),
    'the pass, without its pauses (s)': seconds(passMs),
    'of the processor (s)': seconds(passCpuMs),
    turns,
    'runs deleted': rows.runs ?? 0,
    'rows deleted, by what they are': JSON.stringify(rows),
    'blobs deleted': deleted.blobs,
    'transactions that deleted': took.length,
    'the median of them (ms)': ms(at(took, 0.5)),
    '99 of 100 within (ms)': ms(at(took, 0.99)),
    'the longest (ms)': ms(at(took, 1)),
    'of the processor they took, median (ms)': ms(at(worked, 0.5)),
    '99 of 100 took (ms)': ms(at(worked, 0.99)),
    'the most one took (ms)': ms(at(worked, 1)),
    'transactions that gave room back': gave.length,
    'the longest of these (ms)': ms(at(gave, 1)),
    'deliveries recorded beside it': waits.length,
    'waited, median (ms)': ms(at(waits, 0.5)),
    'waited, 99 of 100 within (ms)': ms(at(waits, 0.99)),
    'waited longest (ms)': ms(at(waits, 1)),
    'file before (MB)': before,
    'file after (MB)': sizeOf(path),
    'most memory (MB)': Math.round(mostMb),
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function timed<T>(
  into: number[],
  work: () => Promise<T>,
  clockMs = () => performance.now(),
): Promise<T> {
  const begun = clockMs();
  try {
    return await work();
  } finally {
    into.push(clockMs() - begun);
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function at(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function ms(value: number): string {
  return value.toFixed(1);
}

function seconds(value: number): string {
  return (value / 1_000).toFixed(1);
}

function sizeOf(file: string): number {
  const bytes = [file, `${file}-wal`].map((one) => (existsSync(one) ? statSync(one).size : 0));
  return Math.round(bytes.reduce((sum, size) => sum + size, 0) / 1_048_576);
}
