import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { databaseIn, type Program, startListening } from '../../test/crash/app-process.ts';
import { notTaken } from '../../test/crash/inbox.ts';
import { burst } from '../../test/load/burst.ts';
import { createRepositories, signedDeliveries } from '../../test/load/repositories.ts';
import { freePort } from '../../test/support/app-environment.ts';
import { startGitHub } from '../../test/support/github/stand-in.ts';
import { cpuOfThreads } from '../cpu-of.ts';
import { exampleBodies, signed } from './deliveries.ts';
import type { LoadOrder, LoadResult } from './load.ts';
import type { Probed, ProbeOrder } from './probe.ts';

/**
 * The whole app in its own process, busy with pull requests, while a loader sends it deliveries of opened
 * pull requests. A process of its own for each round, because it lowers its priority: the stand-in for GitHub
 * runs here, and GitHub takes no time of the app's machine.
 */
export interface AtWork {
  /** By the number of connections. */
  loads: Record<number, LoadResult>;
  /** CPU time in microseconds for each delivery of the first load, by thread. */
  cpuUs: Record<string, number>;
  /** The answer times of the probes during the load. */
  probes: Probed;
  /** Deliveries that were not processed yet when the load ended. Without any, the app was not at work. */
  waiting: number;
  /** Accepted deliveries that were missing from the database after the process was killed. */
  missing: number;
}

export interface AtWorkOrder {
  /** With the app's own server, or in one of Probot's. */
  program: Extract<Program['kind'], 'built' | 'probot'>;
  pullRequests: number;
  /** How many deliveries to send over how many connections, one load after another. */
  loads: readonly { connections: number; count: number }[];
}

const WARM_UP = 500;
/** Of the load's deliveries, before JSON escapes their filling. */
const BODY_BYTES = 23_000;
const TOKEN = 'a-token-only-for-the-benchmark';

process.once('message', async (order: AtWorkOrder) => {
  process.send?.(await run(order));
  process.disconnect();
});

async function run({ program, pullRequests, loads }: AtWorkOrder): Promise<AtWork> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
  const github = await startGitHub();
  const loader = fork(join(import.meta.dirname, 'load.ts'));
  const prober = fork(join(import.meta.dirname, 'probe.ts'));
  const app = await startListening(github, folder, {
    program: { kind: program },
    // Probot has no setting for any free port.
    environment: { METRICS_TOKEN: TOKEN, PORT: String(await freePort()) },
  });
  github.setWebhookUrl(app.webhookUrl);
  // After the others have started, because a process inherits the priority.
  setPriority(19);
  try {
    await createRepositories(github, { repositories: 20, pullRequests });
    const opened = signedDeliveries(github).filter(
      ({ headers }) => headers['x-github-event'] === 'pull_request',
    );
    if (opened.length !== pullRequests) throw new Error(`only ${opened.length} pull requests were opened`);
    const deliveries = realistic(
      opened.map(({ body }) => String(body)),
      github.app.webhookSecret,
    );
    const { port } = new URL(app.webhookUrl);
    const send = (connections: number, count: number) =>
      ask(loader, { port: Number(port), connections, count, deliveries });

    const atOnce = await burst(app.webhookUrl, opened, { connections: 32 });
    // Probot answers 200.
    let accepted = (atOnce.statuses[202] ?? 0) + (atOnce.statuses[200] ?? 0);
    accepted += (await send(16, WARM_UP)).accepted;
    const order: ProbeOrder = { origin: new URL(app.webhookUrl).origin, token: TOKEN };
    prober.send(order);
    const results: AtWork['loads'] = {};
    let cpuUs: AtWork['cpuUs'] | undefined;
    for (const { connections, count } of loads) {
      const before = cpuOfThreads(app.pid);
      const result = await send(connections, count);
      const after = Object.entries(cpuOfThreads(app.pid));
      cpuUs ??= Object.fromEntries(
        after.map(([name, ms]) => [name, ((ms - (before[name] ?? 0)) * 1_000) / count]),
      );
      results[connections] = result;
      accepted += result.accepted;
    }
    prober.send('stop');
    const [probed] = (await once(prober, 'message')) as [Probed];
    app.kill();
    await app.gone;
    const db = new BetterSqlite3(databaseIn(folder));
    const count = (sql: string) => Number(db.prepare(sql).pluck().get());
    const inInbox = notTaken(folder).filter(({ event }) => event === 'pull_request').length;
    const recorded = inInbox + count("SELECT count(*) FROM deliveries WHERE event = 'pull_request'");
    const waiting = inInbox + count("SELECT count(*) FROM deliveries WHERE status <> 'done'");
    db.close();
    return { loads: results, cpuUs: cpuUs ?? {}, probes: probed, waiting, missing: accepted - recorded };
  } finally {
    loader.kill();
    prober.kill();
    app.kill();
    await github.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Deliveries of these opened pull requests, each of about 24 KB: the fields that the app reads come from the
 * stand-in's own deliveries, all others from GitHub's example.
 */
function realistic(opened: readonly string[], secret: string) {
  return exampleBodies(64).map((example, index) => {
    const own = opened[index % opened.length] ?? '{}';
    const filling = example.toString('utf8').slice(0, BODY_BYTES - own.length);
    const body = JSON.stringify({ ...JSON.parse(own), filling });
    return { body, signature: signed(Buffer.from(body), secret).signature };
  });
}

async function ask(loader: ChildProcess, order: LoadOrder): Promise<LoadResult> {
  loader.send(order);
  const [result] = await once(loader, 'message');
  return result;
}
