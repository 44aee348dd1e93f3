import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startPostgres } from '../../test/support/postgres.ts';
import { ownedBy } from '../postgres-cpu.ts';
import { AT_ONCE, ENGINES, type Engine } from './engines.ts';

/**
 * The app's queue on PostgreSQL beside pg-boss and graphile-worker: how many jobs a second go through when many are sent at once, what
 * a job costs in processor time of the process and of the server, and how long after it was sent a job starts in a queue that is
 * empty. The server waits for the disk at each commit. Jobs do nothing. All take turns on one server.
 */
const { values: options } = parseArgs({
  options: {
    jobs: { type: 'string', default: '2000' },
    single: { type: 'string', default: '30' },
    rounds: { type: 'string', default: '3' },
  },
});
const JOBS = Number(options.jobs);
const SINGLE = Number(options.single);
/** Long enough for a worker to have gone to rest, and no multiple of what it polls at. */
const PAUSE_MS = 137;
/** How long a round waits for jobs to start. The rate of a slower queue is that of this time. */
const MOST_MS = 20_000;
const WARM_UP = 10;

interface Round {
  perSecond: number;
  cpuMs: number;
  latencies: number[];
}

const server = await startPostgres({ durable: true });
try {
  const cpu = ownedBy(server);
  const rounds = new Map<string, Round[]>();
  for (let round = 0; round < Number(options.rounds); round++)
    for (const [name, start] of Object.entries(ENGINES)) {
      const started = new Map<string, () => void>();
      const engine = await start(await server.newMigrated(), (id) => started.get(id)?.());
      try {
        const played = await play(engine, started, () => cpu.totalMs());
        rounds.set(name, [...(rounds.get(name) ?? []), played]);
      } finally {
        await engine.stop();
      }
    }
  console.log(
    `${JOBS} jobs from ${AT_ONCE} senders, then ${SINGLE} one at a time; ${options.rounds} rounds, medians`,
  );
  console.table(
    Object.fromEntries(
      [...rounds].map(([name, all]) => {
        const latencies = all.flatMap((one) => one.latencies).toSorted((a, b) => a - b);
        const at = (share: number) =>
          Number((latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(1));
        return [
          name,
          {
            'jobs a second': Math.round(median(all.map(({ perSecond }) => perSecond))),
            'processor ms a job': Number(median(all.map(({ cpuMs }) => cpuMs)).toFixed(2)),
            'sent → started, median ms': at(0.5),
            '95 of 100 within ms': at(0.95),
          },
        ];
      }),
    ),
  );
} finally {
  await server.remove();
}

async function play(engine: Engine, started: Map<string, () => void>, totalMs: () => number): Promise<Round> {
  /** Resolves when all of these jobs have started, or when it takes too long. @returns how many have */
  const starts = async (ids: readonly string[], most: number) => {
    let count = 0;
    const all = Promise.all(
      ids.map((id) => new Promise<void>((resolve) => started.set(id, resolve)).then(() => count++)),
    );
    await Promise.race([all, sleep(most, undefined, { ref: false })]);
    return count;
  };
  // Plans and code are compiled.
  const warm = Array.from({ length: WARM_UP }, (_, n) => `warm-${n}`);
  const warmed = starts(warm, MOST_MS);
  for (const id of warm) await engine.send(id);
  await warmed;

  const latencies: number[] = [];
  for (let n = 0; n < SINGLE; n++) {
    await sleep(PAUSE_MS);
    const start = starts([`single-${n}`], MOST_MS);
    const sent = performance.now();
    await engine.send(`single-${n}`);
    await start;
    latencies.push(performance.now() - sent);
  }

  const before = { ms: totalMs(), at: performance.now() };
  const many = Array.from({ length: JOBS }, (_, n) => `many-${n}`);
  const all = starts(many, MOST_MS);
  let next = 0;
  const sender = async () => {
    for (let id = many[next++]; id !== undefined; id = many[next++]) await engine.send(id);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
  const count = await all;
  const seconds = (performance.now() - before.at) / 1_000;
  return { perSecond: count / seconds, cpuMs: (totalMs() - before.ms) / count, latencies };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
