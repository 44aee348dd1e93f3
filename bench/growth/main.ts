import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createTools } from '../../src/cli-tools.ts';
import { openStorage } from '../../src/composition/storage.ts';
import { runCli } from '../../src/entrypoints/cli/command-line.ts';
import type { Storage } from '../../src/ports/storage.ts';
import { startAppProcess } from '../../test/crash/app-process.ts';
import { type Harness, startHarness } from '../../test/support/harness.ts';
import { studioOn } from '../../test/support/studio-on.ts';
import { cpuOf } from '../cpu-of.ts';
import { playRound, totalOf } from '../pull-request/round.ts';
import { fill, PLAYED } from './fill.ts';
import { type Place, placeOf } from './place.ts';

/**
 * What the app costs beside so many finished runs: a pull request, what the command line and Studio show, a scrape of the metrics,
 * memory and a start. Processor time, with that of PostgreSQL's processes and of the stand-in for GitHub, because a busy machine
 * says little by the clock. All databases are measured in turns, so that they meet the same machine. Exits with 1 if anything
 * grows by more than `MOST`. A size that is given twice shows how much two equal databases differ. The runs are of 60 days, or of as
 * many as `--per-day` makes of them: then a larger database is an older one, and not a busier one.
 */
const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000,100000' },
    database: { type: 'string', default: 'sqlite' },
    'per-day': { type: 'string' },
    rounds: { type: 'string', default: '7' },
    folder: { type: 'string', default: tmpdir() },
    json: { type: 'boolean', default: false },
  },
});
const SIZES = options.runs.split(',').map(Number);
const ROUNDS = Number(options.rounds);
const MOST = 1.2;
/** Below so many milliseconds, the difference is of the machine. */
const NOISE_MS = 0.5;
const NOISE_MB = 5;
/** Archives are made of runs whose last change is older than an hour. */
const UNTIL_ARCHIVED_MS = 7_200_000;
const DAY_MS = 86_400_000;
/** How long the runs are spread over. */
const spreadMs = (runs: number) =>
  (options['per-day'] === undefined ? 60 : Math.ceil(runs / Number(options['per-day']))) * DAY_MS;
/** How often a page is asked for in one round, and a command. */
const CALLS = 10;
const STARTS = 3;
/** Until a process that has started has nothing to do. */
const UNTIL_IDLE_MS = 6_000;
setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

if (options.database !== 'sqlite' && options.database !== 'postgres')
  throw new Error('--database sqlite|postgres');
const folder = mkdtempSync(join(options.folder, 'countersign-growth-'));
// PostgreSQL runs as another user.
chmodSync(folder, 0o755);
const place = await placeOf(options.database, folder);
const apps: Grown[] = [];
try {
  for (const [index, runs] of SIZES.entries()) apps.push(await grow(place, `${index}-${runs}`, runs));
  const startUps = await starts(apps);
  for (const { harness } of apps) await harness.up();
  await report([...(await measured(apps)), ...startUps]);
} finally {
  for (const { harness, reader } of apps) {
    await reader?.close();
    await harness.stop();
  }
  await place.remove();
  rmSync(folder, { recursive: true, force: true });
}

interface Grown {
  runs: number;
  harness: Harness;
  reader?: Storage;
}

interface Measured {
  what: string;
  unit: 'ms' | 'MB';
  statements: number[];
  /** For each size. */
  values: number[];
}

/** An app that is down, on a database with so many finished runs, as the hourly job leaves them. */
async function grow(where: Place, name: string, runs: number): Promise<Grown> {
  const { url, connect } = await where.make(name);
  await (await openStorage(url)).close();
  // What the queue asks for once a second would depend on the machine's speed.
  const harness = await startHarness({ ids: 'real', databaseUrl: url, pollMs: 3_600_000 });
  for (let round = 0; round < PLAYED; round++) await playRound(harness, `played-${round}`);
  for (let hour = 0; hour < 3; hour++) {
    await harness.sleep(UNTIL_ARCHIVED_MS);
    await harness.settle();
  }
  const from = new Date(harness.clock.now().getTime() + DAY_MS);
  await harness.sleep(spreadMs(runs) + 2 * DAY_MS);
  await harness.settle();
  const until = new Date(from.getTime() + spreadMs(runs));
  await harness.down();
  const target = await connect();
  const begun = performance.now();
  await fill(target, { runs, from, until });
  const [size] = await target.run(
    target.kind === 'sqlite'
      ? 'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size'
      : 'SELECT pg_database_size(current_database()) AS bytes',
  );
  await target.end();
  const mb = Number(size?.bytes) / 1e6;
  console.error(
    `${runs} runs: ${mb.toFixed(0)} MB, filled in ${((performance.now() - begun) / 1_000).toFixed(0)} s`,
  );
  return { runs, harness };
}

/** Processor time until the app listens, and resident memory when it has come to rest. */
async function starts(grown: readonly Grown[]): Promise<Measured[]> {
  const cpu: number[][] = grown.map(() => []);
  const memory: number[][] = grown.map(() => []);
  for (let round = 0; round < STARTS; round++)
    for (const [index, { harness }] of grown.entries()) {
      const later = harness.clock.now().getTime() - Date.now();
      const app = startAppProcess(
        harness.github,
        folder,
        { kind: 'real' },
        {
          DATABASE_URL: harness.config.databaseUrl,
          STUDIO: 'off',
          NODE_OPTIONS: `--import=${join(import.meta.dirname, 'shifted-clock.ts')}`,
          COUNTERSIGN_BENCH_LATER: String(later),
        },
      );
      const { pid } = app;
      if (pid === undefined || (await app.webhookUrl) === undefined) throw new Error(app.log.join('\n'));
      cpu[index]?.push(cpuOf(pid).own);
      await sleep(UNTIL_IDLE_MS);
      memory[index]?.push(residentMb(pid));
      await app.stop();
    }
  return [
    { what: 'a start, until it listens', unit: 'ms', statements: [], values: cpu.map(least) },
    { what: 'resident memory, after a start', unit: 'MB', statements: [], values: memory.map(least) },
  ];
}

/** Resident memory of one process, without its children. */
function residentMb(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1_024);
}

type Work = [what: string, calls: number, work: (call: number) => Promise<unknown>];

/** What is measured of an app, in the order in which it happens. */
async function workOf(app: Grown): Promise<Work[]> {
  const { harness, runs } = app;
  const { databaseUrl, artifactsUrl } = harness.config;
  let played = 0;
  const play = async () => {
    const { requests } = await playRound(harness, `grown-${played++}`);
    return totalOf(requests).counted;
  };
  await play();
  const [newest] = await harness.app.storage.read.runs.list({ limit: 1 });
  if (!newest) throw new Error('there is no run');
  // The middle of all copies, in the same repository as what is played.
  const old = `octo/app#${10_001 + 16 * Math.floor(runs / 16 / 50 / 2)}`;
  const command =
    (...args: string[]) =>
    async () => {
      let said = '';
      const code = await runCli(args, {
        cwd: folder,
        clock: harness.clock,
        tools: createTools({ DATABASE_URL: databaseUrl, ARTIFACTS_URL: artifactsUrl }, folder),
        out: (text) => {
          said += text;
        },
        err: (text) => {
          said += text;
        },
      });
      if (code !== 0) throw new Error(`${args.join(' ')}: ${said}`);
    };
  app.reader = await openStorage(databaseUrl, { clock: harness.clock });
  const studio = studioOn(app.reader, harness);
  const page =
    (path: string, open = studio) =>
    async () => {
      const { status, html } = await open(path);
      if (status !== 200) throw new Error(`${path}: ${status} ${html.slice(0, 500)}`);
    };
  // For this one, a minute passes between two requests, so nothing that it remembers counts any more.
  let minutes = 0;
  const forgetful = studioOn(app.reader, {
    config: harness.config,
    clock: { now: () => new Date(harness.clock.now().getTime() + minutes++ * 60_000) },
  });
  const scrape = async () => {
    const answer = await fetch(`${harness.app.metricsUrl ?? harness.app.url}/metrics`);
    if (!answer.ok) throw new Error(`/metrics: ${answer.status}`);
    await answer.text();
  };
  const { items: deliveries } = await app.reader.read.operations.deliveries({ limit: 1 });
  const paths = {
    '/': '/',
    '/runs': '/runs',
    '/runs?state=failed': '/runs?state=failed',
    '/runs?text=nobody': '/runs?text=nobody',
    '/runs/<newest>': `/runs/${newest.id}`,
    '/<repository>/pull/<newest>': `/octo/app/pull/${newest.pullRequest}`,
    '/<repository>/pull/<archived>': `/${old.replace('#', '/pull/')}`,
    '/artifacts': '/artifacts',
    '/artifacts?failed=1': '/artifacts?failed=1',
    '/artifacts?text=nobody': '/artifacts?text=nobody',
    '/chains': '/chains',
    '/skills': '/skills',
    '/insight': '/insight',
    '/report': '/report',
    '/operations': '/operations',
    '/operations/deliveries': '/operations/deliveries',
    '/operations/deliveries?text=nobody': '/operations/deliveries?text=nobody',
    '/operations/deliveries/<newest>': `/operations/deliveries/${deliveries[0]?.guid}`,
    '/operations/effects?status=done': '/operations/effects?status=done',
  };
  return [
    ['a pull request, opened to merged', 1, play],
    ['countersign run list', CALLS, command('run', 'list')],
    ['countersign run list --repo', CALLS, command('run', 'list', '--repo', 'octo/app')],
    ['countersign run why <newest>', CALLS, command('run', 'why', newest.id)],
    ['countersign run why <archived>', CALLS, command('run', 'why', old)],
    ['countersign delivery list', CALLS, command('delivery', 'list')],
    ...Object.entries(paths).map(([what, path]): Work => [`Studio ${what}`, CALLS, page(path)]),
    ...['/insight', '/report'].map(
      (path): Work => [`Studio ${path}, the first in a minute`, CALLS, page(path, forgetful)],
    ),
    ['/metrics', CALLS, scrape],
  ];
}

async function measured(grown: readonly Grown[]): Promise<Measured[]> {
  const works: Work[][] = [];
  for (const one of grown) works.push(await workOf(one));
  const found = new Map<string, { statements: number[][]; ms: number[][] }>();
  for (let round = -1; round < ROUNDS; round++)
    for (const [index, work] of works.entries())
      for (const [what, calls, one] of work) {
        // Otherwise this work would pay for collecting the garbage of earlier work.
        collectGarbage();
        const before = { ms: cpuMs(), statements: place.statements() };
        for (let call = 0; call < calls; call++) await one(call);
        const ms = (cpuMs() - before.ms) / calls;
        const statements = (place.statements() - before.statements) / calls;
        // The first round compiles the code and fills caches.
        if (round < 0) continue;
        const of = found.get(what) ?? { statements: grown.map(() => []), ms: grown.map(() => []) };
        found.set(what, of);
        of.ms[index]?.push(ms);
        of.statements[index]?.push(statements);
      }
  return [...found].map(([what, of]) => ({
    what,
    unit: 'ms' as const,
    statements: of.statements.map(median),
    values: of.ms.map(least),
  }));
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000 + place.serverMs();
}

async function report(all: readonly Measured[]): Promise<void> {
  const rows = all.map(({ what, unit, statements, values }) => {
    const [first = 0] = values;
    const last = values.at(-1) ?? 0;
    const noise = unit === 'ms' ? NOISE_MS : NOISE_MB;
    const grows = last > first * MOST && last - first > noise;
    const [fewest] = statements;
    const asksMore = (statements.at(-1) ?? 0) > (fewest ?? 0) * MOST;
    return { what, unit, statements, values, times: last / first, grows: grows || asksMore };
  });
  process.exitCode = rows.some(({ grows }) => grows) ? 1 : 0;
  if (options.json) {
    console.log(JSON.stringify({ database: options.database, runs: SIZES, rounds: ROUNDS, rows }));
    return;
  }
  console.log(
    `\n${options.database}, ${ROUNDS} rounds; the least processor time, and the median of statements in brackets`,
  );
  console.log(['', ...SIZES.map((runs) => `${runs} runs`), 'times'].join('\t'));
  for (const { what, unit, statements, values, times, grows } of rows) {
    const cells = values.map(
      (value, index) =>
        `${value.toFixed(1)} ${unit}${statements[index] === undefined ? '' : ` (${statements[index]})`}`,
    );
    console.log([what, ...cells, `${times.toFixed(2)}${grows ? ' GROWS' : ''}`].join('\t'));
  }
}

/** Other programs only add to what work costs, so the least of several rounds says most about it. */
function least(values: readonly number[]): number {
  return Math.min(...values);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
