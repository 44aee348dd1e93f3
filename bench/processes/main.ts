import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { artifactsIn, type ListeningApp, startListening } from '../../test/crash/app-process.ts';
import { burst } from '../../test/load/burst.ts';
import { createRepositories, signedDeliveries } from '../../test/load/repositories.ts';
import { startGitHub } from '../../test/support/github/stand-in.ts';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { watchAsked } from '../asked.ts';
import { cpuOf } from '../cpu-of.ts';
import { ownedBy } from '../postgres-cpu.ts';

/**
 * How much more several processes do than one, on a PostgreSQL server that waits for its disk: pull requests with one file and green
 * CI, opened at once in as many installations as repositories, until all are asked. For each number of processes, it starts that many
 * built ones on a new database, and prints:
 *
 * - pull requests asked a second;
 * - processor time for each of them: of the processes with their children, of the server, and of the stand-in for GitHub with the sender;
 * - how many cores were busy with that;
 * - which share of the time somebody had the lock that all take who write, and how many waited for it, by samples. The first bounds
 *   what any number of processes can do.
 */
const { values: options } = parseArgs({
  options: {
    processes: { type: 'string', default: '1,2,3' },
    'pull-requests': { type: 'string', default: '300' },
    repositories: { type: 'string', default: '60' },
    json: { type: 'boolean', default: false },
  },
});
const measuredCount = Number(options['pull-requests']);
const repositories = Number(options.repositories);

/** After a start, modules load, and the processes divide the installations. */
const UNTIL_IDLE_MS = 10_000;
/** One for each repository at first: they compile the code, read each installation's configuration, and are not counted. */
const warmUp = repositories;
const SAMPLE_MS = 20;

execFileSync('npm', ['run', 'build'], { cwd: join(import.meta.dirname, '../..'), stdio: 'ignore' });
const server = await startPostgres({ durable: true });
setPriority(10);
try {
  const rows: Record<string, Measured> = {};
  for (const count of options.processes.split(',').map(Number)) rows[count] = await measure(server, count);
  if (options.json) console.log(JSON.stringify(rows));
  else console.table(rows);
} finally {
  await server.remove();
}

interface Measured {
  asked_a_second: number;
  processes_ms: number;
  server_ms: number;
  stand_in_ms: number;
  busy_cores: number;
  locked_share: number;
  waiting_for_lock: number;
}

async function measure(of: PostgresServer, count: number): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-processes-'));
  const url = await of.newMigrated();
  const github = await startGitHub();
  const apps: ListeningApp[] = [];
  try {
    for (let index = 0; index < count; index++) {
      const own = join(folder, String(index));
      mkdirSync(own);
      apps.push(
        await startListening(github, own, {
          program: { kind: 'built' },
          environment: { DATABASE_URL: url, ARTIFACTS_URL: `file:${artifactsIn(folder)}` },
        }),
      );
    }
    // Its deliveries are held, and sent below.
    github.setWebhookUrl(apps[0]?.webhookUrl ?? '');
    await sleep(UNTIL_IDLE_MS);
    const total = warmUp + measuredCount;
    const { pullRequests } = await createRepositories(github, { repositories, pullRequests: total });
    for (const { repo, headSha } of pullRequests) {
      await github.reportCheck(repo, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
    }
    const opened = signedDeliveries(github).filter(
      ({ headers }) => headers['x-github-event'] === 'pull_request',
    );
    if (opened.length !== total) throw new Error(`${opened.length} deliveries of ${total} pull requests`);
    const asked = watchAsked(github, pullRequests);

    /** Sends them to the processes in turn, and waits until they are asked. */
    async function ask(from: number, to: number): Promise<void> {
      await Promise.all(
        apps.map((app, index) =>
          burst(
            app.webhookUrl,
            opened.slice(from, to).filter((_, at) => at % apps.length === index),
            { connections: 8 },
          ),
        ),
      );
      for (const one of pullRequests.slice(from, to)) await asked.until(one);
    }

    await ask(0, warmUp);
    await sleep(UNTIL_IDLE_MS);
    const processorTime = startCpu(apps, of);
    const lock = await watchLock(url);
    const begun = performance.now();
    await ask(warmUp, total);
    const ms = performance.now() - begun;
    const { processesMs, serverMs, standInMs } = processorTime();
    const { lockedShare, waiting } = await lock.stop();
    for (const app of apps) await app.stop();
    const each = (value: number) => Math.round(value / measuredCount);
    return {
      asked_a_second: round(measuredCount / (ms / 1_000)),
      processes_ms: each(processesMs),
      server_ms: each(serverMs),
      stand_in_ms: each(standInMs),
      busy_cores: round((processesMs + serverMs + standInMs) / ms),
      locked_share: round(lockedShare),
      waiting_for_lock: round(waiting),
    };
  } finally {
    for (const app of apps) app.kill();
    await github.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Processor time in milliseconds from now until it is called. */
function startCpu(
  apps: readonly ListeningApp[],
  of: PostgresServer,
): () => { processesMs: number; serverMs: number; standInMs: number } {
  const ownedByServer = ownedBy(of);
  const processes = () =>
    apps.map((app) => cpuOf(app.pid)).reduce((sum, { own, children }) => sum + own + children, 0);
  const standIn = () => ownedByServer.totalMs() - ownedByServer.serverMs();
  const before = { processes: processes(), server: ownedByServer.serverMs(), standIn: standIn() };
  return () => ({
    processesMs: processes() - before.processes,
    serverMs: ownedByServer.serverMs() - before.server,
    standInMs: standIn() - before.standIn,
  });
}

/** Asks again and again who has the lock of those that write, and how many wait for it. */
async function watchLock(
  url: string,
): Promise<{ stop(): Promise<{ lockedShare: number; waiting: number }> }> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  let samples = 0;
  let held = 0;
  let waited = 0;
  let isWatching = true;
  async function watch(): Promise<void> {
    while (isWatching) {
      const { rows } = await client.query<{ held: number; waiting: number }>(
        `SELECT count(*) FILTER (WHERE granted)::int AS held, count(*) FILTER (WHERE NOT granted)::int AS waiting
         FROM pg_locks WHERE locktype = 'advisory'
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      samples += 1;
      held += rows[0]?.held ?? 0;
      waited += rows[0]?.waiting ?? 0;
      await sleep(SAMPLE_MS);
    }
    await client.end();
  }
  const ended = watch();
  return {
    async stop() {
      isWatching = false;
      await ended;
      return { lockedShare: held / samples, waiting: waited / samples };
    },
  };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
