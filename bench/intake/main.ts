import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import BetterSqlite3 from 'better-sqlite3';
import type { LoadOrder, LoadResult } from './load.ts';

/**
 * Accepted deliveries per second: this app against plain Probot with one committed row per delivery. Servers
 * and load are separate processes. The two servers take turns within one run, because a machine's speed
 * varies more over time than the servers differ. Each round has a fresh database. After a round, the server
 * is killed and its rows are counted: every delivery answered with 2xx must be there. Exits with 1 if the
 * ratio is below 3, a delivery was refused or a row is missing.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    count: { type: 'string', default: '4000' },
    connections: { type: 'string', default: '16' },
    json: { type: 'boolean', default: false },
  },
});
const rounds = Number(options.rounds);
const connections = Number(options.connections);
const count = Number(options.count);
/** Sent first and not counted, so that both servers are compiled and connected. */
const WARM_UP = 2_000;

const TARGET = 3;
const SERVERS = { countersign: 'server-countersign.ts', probot: 'server-probot.ts' } as const;
type Name = keyof typeof SERVERS;

interface Round extends LoadResult {
  perSecond: number;
  /** CPU time of the server's process per delivery, in µs: far more stable than rates on a shared machine. */
  cpuMicros: number;
  /** Accepted deliveries, including the warm-up, that were missing from the database after the kill. */
  missing: number;
}

const results: Record<Name, Round[]> = { countersign: [], probot: [] };
for (let round = 0; round < rounds; round++) {
  // The first server alternates, too.
  const order: Name[] = round % 2 === 0 ? ['countersign', 'probot'] : ['probot', 'countersign'];
  for (const name of order) results[name].push(await run(name));
}
report();

async function run(name: Name): Promise<Round> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
  const path = join(folder, 'bench.db');
  const server = fork(join(import.meta.dirname, SERVERS[name]), [path]);
  const loader = fork(join(import.meta.dirname, 'load.ts'));
  try {
    const { port } = await message<AddressInfo>(server);
    const warmUp = await ask<LoadResult>(loader, { port, connections, count: WARM_UP });
    const before = await ask<NodeJS.CpuUsage>(server, 'cpu');
    const result = await ask<LoadResult>(loader, { port, connections, count });
    const after = await ask<NodeJS.CpuUsage>(server, 'cpu');
    server.kill('SIGKILL');
    await once(server, 'exit');
    return {
      ...result,
      refused: warmUp.refused + result.refused,
      perSecond: result.accepted / result.seconds,
      cpuMicros: (after.user + after.system - before.user - before.system) / count,
      missing: warmUp.accepted + result.accepted - countRows(path),
    };
  } finally {
    loader.kill();
    server.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

function ask<T>(child: ChildProcess, question: LoadOrder | 'cpu'): Promise<T> {
  child.send(question);
  return message(child);
}

/** The next message of a child process. Rejects if it exits without one. */
async function message<T>(child: ChildProcess): Promise<T> {
  const ended = once(child, 'exit').then(() => {
    throw new Error('a process of the benchmark ended early');
  });
  const [first] = await Promise.race([once(child, 'message'), ended]);
  return first;
}

function countRows(path: string): number {
  const db = new BetterSqlite3(path);
  try {
    return Number(db.prepare('SELECT count(*) FROM deliveries').pluck().get());
  } finally {
    db.close();
  }
}

function report(): void {
  const lines = (Object.keys(SERVERS) as Name[]).map((name) => {
    const all = results[name];
    return {
      name,
      per_second: Math.round(median(all.map((one) => one.perSecond))),
      rounds: all.map((one) => Math.round(one.perSecond)),
      cpu_us: Math.round(median(all.map((one) => one.cpuMicros))),
      p50_ms: Number(median(all.map((one) => one.p50Ms)).toFixed(2)),
      p99_ms: Number(median(all.map((one) => one.p99Ms)).toFixed(2)),
      refused: all.reduce((sum, one) => sum + one.refused, 0),
      missing: all.reduce((sum, one) => sum + one.missing, 0),
    };
  });
  const [ours, peer] = lines;
  const ratio = ours && peer ? ours.per_second / peer.per_second : 0;
  const passed = ratio >= TARGET && lines.every(({ refused, missing }) => refused === 0 && missing === 0);
  const setting = { rounds, connections, count, node: process.version, cpus: cpus().length };

  if (options.json) {
    console.log(
      JSON.stringify({ ...setting, results: lines, ratio: Number(ratio.toFixed(2)), target: TARGET, passed }),
    );
  } else {
    console.log(
      `${rounds} rounds of ${count} signed 24 KB deliveries at ${connections} connections, medians:`,
    );
    console.table(
      Object.fromEntries(
        lines.map(({ name, rounds: each, ...line }) => [name, { ...line, rounds: each.join(' ') }]),
      ),
    );
    console.log(`${ratio.toFixed(2)} times as many as Probot with one committed row (at least ${TARGET}).`);
  }
  process.exitCode = passed ? 0 : 1;
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
