import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import BetterSqlite3 from 'better-sqlite3';
import { databaseIn, startListening } from '../../test/crash/app-process.ts';
import { burst } from '../../test/load/burst.ts';
import { createRepositories, signedDeliveries } from '../../test/load/repositories.ts';
import { startGitHub } from '../../test/support/github/stand-in.ts';
import { watchAsked } from '../asked.ts';
import { cpuOf } from '../cpu-of.ts';
import { type HeapShares, heapShares } from './heap.ts';

/**
 * What the whole app, built and started as the container image starts it, with the shipped chain and no model, needs for pull requests with one
 * file whose CI is green already:
 *
 * - one at a time: milliseconds from the delivery to the approval comment, and CPU time;
 * - many at once: seconds until all are asked, and from the reactions until all are merged;
 * - resident memory while idle and afterwards, and bytes of the database for each finished run.
 *
 * The stand-in for GitHub runs in this process, with a low priority, and answers at once.
 *
 * `--snapshots` names a folder for heap snapshots of the engine's thread, while idle and in the end. Writing one collects garbage and takes
 * memory, so the resident memory in the end is then not comparable.
 */
const { values: options } = parseArgs({
  options: {
    single: { type: 'string', default: '20' },
    'at-once': { type: 'string', default: '1000' },
    repositories: { type: 'string', default: '100' },
    snapshots: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const single = Number(options.single);
const atOnce = Number(options['at-once']);

/** After a start, modules load and recovery searches for missed changes. */
const UNTIL_IDLE_MS = 10_000;
/** The first pull requests compile the code, and are not counted. */
const WARM_UP = 5;
execFileSync('npm', ['run', 'build'], { cwd: join(import.meta.dirname, '../..'), stdio: 'ignore' });
const folder = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
const github = await startGitHub();
const { snapshots } = options;
if (snapshots !== undefined) mkdirSync(snapshots, { recursive: true });
const app = await startListening(github, folder, {
  program: { kind: 'built' },
  environment:
    snapshots === undefined
      ? {}
      : { NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${snapshots}` },
});
github.setWebhookUrl(app.webhookUrl);
setPriority(10);
try {
  await sleep(UNTIL_IDLE_MS);
  const idleMb = residentMb(app.pid);
  const idleHeap = await takeSnapshot();
  // After the app has looked for what it missed, so that it learns of these only from the deliveries.
  const total = WARM_UP + single + atOnce;
  const many = await createRepositories(github, {
    repositories: Number(options.repositories),
    pullRequests: total,
  });
  for (const { repo, headSha } of many.pullRequests) {
    await github.reportCheck(repo, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  }
  const opened = signedDeliveries(github).filter(
    ({ headers }) => headers['x-github-event'] === 'pull_request',
  );
  if (opened.length !== total) throw new Error(`${opened.length} deliveries of ${total} pull requests`);
  const asked = watchAsked(github, many.pullRequests);

  const times: number[] = [];
  let before = cpuOf(app.pid);
  for (let index = 0; index < WARM_UP + single; index++) {
    if (index === WARM_UP) before = cpuOf(app.pid);
    const sent = performance.now();
    const delivery = opened[index];
    if (delivery) await burst(app.webhookUrl, [delivery]);
    await asked.until(many.pullRequests[index]);
    if (index >= WARM_UP) times.push(performance.now() - sent);
    // Status comments and check runs follow.
    await sleep(100);
  }
  const after = cpuOf(app.pid);

  const begun = performance.now();
  await burst(app.webhookUrl, opened.slice(WARM_UP + single), { connections: 32 });
  for (let index = WARM_UP + single; index < total; index++) await asked.until(many.pullRequests[index]);
  const askedSeconds = (performance.now() - begun) / 1_000;
  const askedMb = residentMb(app.pid);

  const reacted = performance.now();
  for (const { repo, number } of asked.inOrder) {
    const comment = github
      .comments(repo, number)
      .findLast(({ body }) => body.includes('countersign:approval'));
    if (comment) await github.react(repo, comment.id, 'mia', '+1');
  }
  while (github.merges.length < total) await sleep(100);
  const mergedSeconds = (performance.now() - reacted) / 1_000;
  await sleep(5_000);
  const afterMb = residentMb(app.pid);
  const heap = await takeSnapshot();
  await app.stop();

  const db = new BetterSqlite3(databaseIn(folder));
  const tables = db
    .prepare('SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name ORDER BY bytes DESC LIMIT 12')
    .all() as { name: string; bytes: number }[];
  const bytes = Number(db.prepare('SELECT sum(pgsize) FROM dbstat').pluck().get());
  db.close();

  const result = {
    asked_ms_median: Math.round(median(times)),
    asked_ms_max: Math.round(Math.max(...times)),
    cpu_app_ms: Math.round((after.own - before.own) / single),
    cpu_children_ms: Math.round((after.children - before.children) / single),
    at_once: atOnce,
    all_asked_s: Math.round(askedSeconds),
    all_merged_s: Math.round(mergedSeconds),
    idle_mb: idleMb,
    all_asked_mb: askedMb,
    after_mb: afterMb,
    kb_a_run: Number((bytes / total / 1_024).toFixed(1)),
  };
  const heaps = { idle: idleHeap, after: heap };
  if (options.json) console.log(JSON.stringify({ ...result, tables, ...(heap && { heaps }) }));
  else {
    console.table(result);
    console.table(
      Object.fromEntries(
        tables.map(({ name, bytes: of }) => [name, { bytes_a_run: Math.round(of / total) }]),
      ),
    );
    for (const [when, shares] of Object.entries(heaps)) if (shares) console.dir({ when, ...shares });
  }
} finally {
  app.kill();
  await github.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function takeSnapshot(): Promise<HeapShares | undefined> {
  if (snapshots === undefined) return undefined;
  const before = new Set(readdirSync(snapshots));
  process.kill(app.pid, 'SIGUSR2');
  const found = () =>
    readdirSync(snapshots).find((name) => !before.has(name) && name.endsWith('.heapsnapshot'));
  for (let size = -1; ; ) {
    await sleep(3_000);
    const name = found();
    const now = name === undefined ? -1 : statSync(join(snapshots, name)).size;
    if (name !== undefined && now > 0 && now === size) return heapShares(join(snapshots, name));
    size = now;
  }
}

/** Resident memory of one process, without its children, in MB. */
function residentMb(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1_024);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
