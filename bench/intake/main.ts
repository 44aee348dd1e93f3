import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { AtWork, AtWorkOrder } from './at-work.ts';
import type { LoadOrder, LoadResult } from './load.ts';

/**
 * Accepted deliveries per second: the whole app, busy with pull requests, against plain Probot with one
 * committed row per delivery, which does nothing more. Servers, load and the stand-in for GitHub are separate
 * processes. Both take turns within one run, because a machine's speed varies more over time than they
 * differ. Each round has a fresh database. After a round, the app is killed and its rows are counted: every
 * delivery answered with 202 must be there. Exits with 1 if a target is missed, a delivery was refused or a
 * row is missing.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    'pull-requests': { type: 'string', default: '1000' },
    json: { type: 'boolean', default: false },
  },
});
const rounds = Number(options.rounds);
const pullRequests = Number(options['pull-requests']);

const LOADS: AtWorkOrder['loads'] = [
  { connections: 16, count: 6_000 },
  { connections: 1, count: 600 },
];
/** The least ratio to the peer, by connections. */
const TARGETS: Readonly<Record<number, number>> = { 16: 2, 1: 0.8 };
/** The same for the app in a Probot server, at many connections: at one, it waits for all that Probot does, and more. */
const HOSTED_TARGET = 1;
const MAX_P99_MS = 50;
const MAX_PROBE_MS = 20;
/** Sent to the peer first and not counted, so that it is compiled and connected. */
const WARM_UP = 2_000;

execFileSync('npm', ['run', 'build'], { cwd: join(import.meta.dirname, '../..'), stdio: 'ignore' });
const ours: AtWork[] = [];
const hosted: AtWork[] = [];
const peers: Record<number, LoadResult>[] = [];
for (let round = 0; round < rounds; round++) {
  const turns = [
    async () => void ours.push(await atWork('built')),
    async () => void peers.push(await peer()),
    async () => void hosted.push(await atWork('probot')),
  ];
  // The first alternates, too.
  for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn();
}
report();

async function atWork(program: AtWorkOrder['program']): Promise<AtWork> {
  const child = fork(join(import.meta.dirname, 'at-work.ts'));
  try {
    return await ask<AtWork>(child, { program, pullRequests, loads: LOADS });
  } finally {
    child.kill();
  }
}

async function peer(): Promise<Record<number, LoadResult>> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
  const server = fork(join(import.meta.dirname, 'server-probot.ts'), [join(folder, 'bench.db')]);
  const loader = fork(join(import.meta.dirname, 'load.ts'));
  try {
    const { port } = await message<AddressInfo>(server);
    await ask<LoadResult>(loader, { port, connections: 16, count: WARM_UP });
    const results: Record<number, LoadResult> = {};
    for (const { connections, count } of LOADS) {
      results[connections] = await ask<LoadResult>(loader, { port, connections, count });
    }
    return results;
  } finally {
    loader.kill();
    server.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

function ask<T>(child: ChildProcess, order: LoadOrder | AtWorkOrder): Promise<T> {
  child.send(order);
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

function report(): void {
  const perSecond = ({ accepted, seconds }: LoadResult) => accepted / seconds;
  const at = (all: readonly Record<number, LoadResult>[], connections: number) =>
    all.flatMap((one) => one[connections] ?? []);
  const loads = LOADS.map(({ connections }) => {
    const mine = at(
      ours.map((one) => one.loads),
      connections,
    );
    const theirs = at(peers, connections);
    const inProbot = at(
      hosted.map((one) => one.loads),
      connections,
    );
    return {
      connections,
      countersign: Math.round(median(mine.map(perSecond))),
      hosted: Math.round(median(inProbot.map(perSecond))),
      probot: Math.round(median(theirs.map(perSecond))),
      ratio: Number((median(mine.map(perSecond)) / median(theirs.map(perSecond))).toFixed(2)),
      target: TARGETS[connections] ?? 0,
      hosted_ratio: Number((median(inProbot.map(perSecond)) / median(theirs.map(perSecond))).toFixed(2)),
      p50_ms: Number(median(mine.map((one) => one.p50Ms)).toFixed(1)),
      p99_ms: Number(median(mine.map((one) => one.p99Ms)).toFixed(1)),
      hosted_p99_ms: Number(median(inProbot.map((one) => one.p99Ms)).toFixed(1)),
      probot_p99_ms: Number(median(theirs.map((one) => one.p99Ms)).toFixed(1)),
      refused: [...mine, ...inProbot].reduce((sum, one) => sum + one.refused, 0),
    };
  });
  const probes = Object.fromEntries(
    Object.keys(ours[0]?.probes ?? {}).map((path) => {
      const all = ours.flatMap((one) => one.probes[path] ?? []);
      return [
        path,
        {
          p50_ms: median(all.map(({ p50Ms }) => p50Ms)),
          p99_ms: median(all.map(({ p99Ms }) => p99Ms)),
          max_ms: Math.max(...all.map(({ maxMs }) => maxMs)),
        },
      ];
    }),
  );
  const cpu_us = Object.fromEntries(
    ['intake', 'main', 'V8Worker'].map((thread) => [
      thread,
      Math.round(median(ours.map(({ cpuUs }) => cpuUs[thread] ?? 0))),
    ]),
  );
  const missing = [...ours, ...hosted].reduce((sum, one) => sum + one.missing, 0);
  const wasAtWork = [...ours, ...hosted].every(({ waiting }) => waiting > 0);
  const passed =
    wasAtWork &&
    missing === 0 &&
    loads.every((one) => one.refused === 0 && one.ratio >= one.target && one.p99_ms < MAX_P99_MS) &&
    loads.every((one) => one.connections === 1 || one.hosted_ratio >= HOSTED_TARGET) &&
    Object.values(probes).every((one) => one.p99_ms < MAX_PROBE_MS);
  process.exitCode = passed ? 0 : 1;

  const setting = { rounds, pullRequests, node: process.version, cpus: cpus().length };
  if (options.json) {
    console.log(JSON.stringify({ ...setting, loads, cpu_us, probes, missing, wasAtWork, passed }));
    return;
  }
  console.log(
    `Signed deliveries of opened pull requests, about 24 KB each. Countersign is busy with ${pullRequests} pull requests, ` +
      `Probot commits one row each and does nothing more. Medians of ${rounds} rounds:`,
  );
  console.table(
    Object.fromEntries(loads.map(({ connections, ...one }) => [`${connections} connections`, one])),
  );
  console.log(
    'CPU of its threads for each delivery at 16 connections, in µs; "main" is the engine, "V8Worker" its helpers:',
  );
  console.table(cpu_us);
  console.log('Probes of Countersign meanwhile:');
  console.table(probes);
  console.log(`${missing} accepted deliveries missing after SIGKILL.`);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
