import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import BetterSqlite3 from 'better-sqlite3';
import { databaseIn, startListening } from '../../test/crash/app-process.ts';
import { burst } from '../../test/load/burst.ts';
import { createRepositories, signedDeliveries } from '../../test/load/repositories.ts';
import { startGitHub } from '../../test/support/github/stand-in.ts';
import { exampleBodies, signed } from './deliveries.ts';
import type { LoadOrder, LoadResult } from './load.ts';

/**
 * The whole app in its own process, busy with pull requests, while a loader sends it deliveries of opened
 * pull requests. A process of its own for each round, because it lowers its priority: the stand-in for GitHub
 * runs here, and GitHub takes no time of the app's machine.
 */
export interface AtWork {
  /** By the number of connections. */
  loads: Record<number, LoadResult>;
  /** The slowest, and the 99th of 100, answers of each probe during the load, in milliseconds. */
  probes: Record<string, { p50Ms: number; p99Ms: number; maxMs: number }>;
  /** Deliveries that were not processed yet when the load ended. Without any, the app was not at work. */
  waiting: number;
  /** Accepted deliveries that were missing from the database after the process was killed. */
  missing: number;
}

export interface AtWorkOrder {
  pullRequests: number;
  /** How many deliveries to send over how many connections, one load after another. */
  loads: readonly { connections: number; count: number }[];
}

const WARM_UP = 500;
/** Of the load's deliveries, before JSON escapes their filling. */
const BODY_BYTES = 23_000;
const TOKEN = 'a-token-only-for-the-benchmark';
/** Between two rounds of probes, in milliseconds. */
const PROBE_EVERY_MS = 50;

process.once('message', async (order: AtWorkOrder) => {
  process.send?.(await run(order));
  process.disconnect();
});

async function run({ pullRequests, loads }: AtWorkOrder): Promise<AtWork> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
  const github = await startGitHub();
  const loader = fork(join(import.meta.dirname, 'load.ts'));
  const app = await startListening(github, folder, { environment: { METRICS_TOKEN: TOKEN } });
  github.setWebhookUrl(app.webhookUrl);
  // After the others have started, because a process inherits the priority.
  setPriority(10);
  try {
    await createRepositories(github, { repositories: 20, pullRequests });
    const opened = signedDeliveries(github).slice(-pullRequests);
    if (opened.length !== pullRequests) throw new Error(`only ${opened.length} pull requests were opened`);
    const deliveries = realistic(
      opened.map(({ body }) => String(body)),
      github.app.webhookSecret,
    );
    const { port } = new URL(app.webhookUrl);
    const send = (connections: number, count: number) =>
      ask(loader, { port: Number(port), connections, count, deliveries });

    const atOnce = await burst(app.webhookUrl, opened, { connections: 32 });
    let accepted = atOnce.statuses[202] ?? 0;
    accepted += (await send(16, WARM_UP)).accepted;
    const probes = startProbes(new URL(app.webhookUrl).origin);
    const results: AtWork['loads'] = {};
    for (const { connections, count } of loads) {
      const result = await send(connections, count);
      results[connections] = result;
      accepted += result.accepted;
    }
    const probed = await probes.stop();
    app.kill();
    await app.gone;
    const db = new BetterSqlite3(databaseIn(folder));
    const count = (sql: string) => Number(db.prepare(sql).pluck().get());
    const recorded = count('SELECT count(*) FROM deliveries');
    const waiting = count("SELECT count(*) FROM deliveries WHERE status <> 'done'");
    db.close();
    return { loads: results, probes: probed, waiting, missing: accepted - recorded };
  } finally {
    loader.kill();
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

function startProbes(origin: string) {
  const taken: Record<string, number[]> = { '/healthz': [], '/readyz': [], '/metrics': [] };
  let isOver = false;
  const probing = (async () => {
    while (!isOver) {
      for (const [path, times] of Object.entries(taken)) {
        const asked = performance.now();
        const response = await fetch(origin + path, { headers: { authorization: `Bearer ${TOKEN}` } });
        await response.text();
        if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
        times.push(performance.now() - asked);
      }
      await sleep(PROBE_EVERY_MS);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await probing;
      return Object.fromEntries(
        Object.entries(taken).map(([path, times]) => {
          times.sort((a, b) => a - b);
          const at = (share: number) => Number((times[Math.floor(times.length * share)] ?? 0).toFixed(1));
          return [path, { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: Number((times.at(-1) ?? 0).toFixed(1)) }];
        }),
      );
    },
  };
}

async function ask(loader: ChildProcess, order: LoadOrder): Promise<LoadResult> {
  loader.send(order);
  const [result] = await once(loader, 'message');
  return result;
}
