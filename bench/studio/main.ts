import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startAppProcess, startStudioProcess } from '../../demo/app-process.ts';
import { cleanChange, riskyChange } from '../../demo/cases.ts';
import { createTeller } from '../../demo/tell.ts';
import { viewer } from '../../demo/watch.ts';
import { COUNTED, PEOPLE, REPO, seed } from '../../demo/world.ts';
import { startGitHub } from '../../test/support/github/stand-in.ts';
import { exampleBodies, signed } from '../intake/deliveries.ts';
import { fill } from './fill.ts';

/**
 * How long Studio's pages take beside a large database while deliveries come in, how much they send, and how much
 * they slow the intake. The app, Studio and the stand-in for GitHub are the real ones; the runs are copies of three
 * that the app made. Exits with 1 if a target is missed.
 */
const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '100000' },
    requests: { type: 'string', default: '60' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
  },
});
const MAX_P95_MS = 100;
const MAX_BYTES = 60_000;
const MAX_SLOWER = 0.05;
/** Deliveries a second while pages are timed. */
const DELIVERIES = 20;
/** Pages a second while the intake is timed. */
const PAGES = 5;

const folder = mkdtempSync(join(tmpdir(), 'countersign-studio-bench-'));
const github = await startGitHub();
let misses = 0;
try {
  await play();
  const path = join(folder, 'countersign.db');
  const filled = fill({
    path,
    runs: Number(options.runs),
    days: 180,
    now: new Date(),
    repositories: 100,
    waitingEvery: 100,
    closedAfterDays: 7,
  });
  say(`${filled.runs} runs, ${filled.transitions} transitions, ${Math.round(statSync(path).size / 1e6)} MB`);
  const app = await startAppProcess(github, folder);
  const studio = await startStudioProcess(app);
  try {
    const cookie = await open(studio.link);
    const get = (at: string) => timedGet(new URL(at, studio.link), cookie);
    const run = /\/runs\/run_\w+/.exec((await get('/runs')).text)?.[0];
    if (run === undefined) throw new Error('the list of runs names none');
    const bodies = exampleBodies(500).map((body) => signed(body, github.app.webhookSecret));
    const pages = [
      '/',
      '/runs',
      '/runs?state=failed',
      run,
      `${run}?step=review`,
      '/acme/rocket-7/pull/99908',
    ];
    pages.push('/artifacts', '/artifacts?failed=1', '/chains', '/skills', '/insight', '/operations');
    await timePages(pages, get, () => deliver(app.url, bodies, DELIVERIES));
    await timeIntake(app.url, bodies, () => get('/runs'));
  } finally {
    await studio.stop();
    await app.stop();
  }
} finally {
  await github.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = misses === 0 ? 0 : 1;

/** Three pull requests, through the app: one merged, one sent back, one that waits for a countersign. */
async function play(): Promise<void> {
  const app = await startAppProcess(github, folder);
  github.setWebhookUrl(`${app.url}/api/github/webhooks`);
  seed(github);
  const stage = { github, tell: createTeller(true, () => {}) };
  for (const one of [cleanChange, riskyChange]) await one(stage);
  const { number, headSha } = await github.openPullRequest({
    repo: REPO,
    author: PEOPLE.author,
    branch: 'count',
    title: 'Count the lines',
    files: COUNTED,
  });
  for (const name of ['test', 'lint']) {
    await github.reportCheck(REPO, headSha, { name, status: 'completed', conclusion: 'success' });
  }
  await viewer(github).asked(number, headSha);
  await app.stop();
}

async function timePages(
  pages: readonly string[],
  get: (at: string) => Promise<Got>,
  start: () => { stop(): Promise<number> },
): Promise<void> {
  const deliveries = start();
  say(['page', 'status', 'p50 ms', 'p95 ms', 'KB sent'].join('\t'));
  for (const at of pages) {
    for (let warm = 0; warm < 3; warm++) await get(at);
    const got: Got[] = [];
    for (let one = 0; one < Number(options.requests); one++) got.push(await get(at));
    const sorted = got.map(({ ms }) => ms).toSorted((a, b) => a - b);
    const p95 = quantile(sorted, 0.95);
    const bytes = got[0]?.bytes ?? 0;
    const missed = p95 > MAX_P95_MS || bytes > MAX_BYTES || got[0]?.status !== 200;
    if (missed) misses += 1;
    const shown = at.replace(/run_\w+/, '<id>');
    const row = [
      shown,
      got[0]?.status,
      quantile(sorted, 0.5).toFixed(1),
      p95.toFixed(1),
      (bytes / 1_000).toFixed(1),
    ];
    say(`${row.join('\t')}${missed ? '\tmissed' : ''}`);
  }
  say(`${await deliveries.stop()} deliveries were accepted meanwhile`);
}

/** Rounds with and without readers take turns, because a machine's speed varies over time. */
async function timeIntake(url: string, bodies: readonly Body[], look: () => Promise<unknown>): Promise<void> {
  const rates: Record<'alone' | 'beside', number[]> = { alone: [], beside: [] };
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const which of round % 2 === 0 ? (['alone', 'beside'] as const) : (['beside', 'alone'] as const)) {
      let isOver = false;
      const reading =
        which === 'beside' &&
        (async () => {
          while (!isOver) {
            const next = sleep(1_000 / PAGES);
            await look();
            await next;
          }
        })();
      const load = deliver(url, bodies, Number.POSITIVE_INFINITY);
      await sleep(Number(options.seconds) * 1_000);
      rates[which].push((await load.stop()) / Number(options.seconds));
      isOver = true;
      await reading;
    }
  }
  const median = (values: readonly number[]) =>
    quantile(
      values.toSorted((a, b) => a - b),
      0.5,
    );
  const [alone, beside] = [median(rates.alone), median(rates.beside)];
  const missed = beside < alone * (1 - MAX_SLOWER);
  if (missed) misses += 1;
  say(
    `intake: ${alone.toFixed(0)}/s alone, ${beside.toFixed(0)}/s beside ${PAGES} pages a second (${((beside / alone - 1) * 100).toFixed(1)} %)${missed ? ' missed' : ''}`,
  );
}

type Body = ReturnType<typeof signed>;

/** Posts deliveries from 16 connections, at most so many a second. */
function deliver(url: string, bodies: readonly Body[], perSecond: number): { stop(): Promise<number> } {
  let isOver = false;
  let sent = 0;
  let accepted = 0;
  const senders = Array.from({ length: 16 }, async () => {
    while (!isOver) {
      const next = Number.isFinite(perSecond) ? sleep((16 / perSecond) * 1_000) : undefined;
      const one = bodies[sent++ % bodies.length];
      if (!one) return;
      const answer = await fetch(`${url}/api/github/webhooks`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-github-event': 'star',
          'x-github-delivery': `bench-${process.pid}-${sent}`,
          'x-hub-signature-256': one.signature,
        },
        body: new Uint8Array(one.body),
      });
      await answer.arrayBuffer();
      if (answer.status === 202) accepted += 1;
      await next;
    }
  });
  return {
    async stop() {
      isOver = true;
      await Promise.all(senders);
      return accepted;
    },
  };
}

interface Got {
  status: number;
  ms: number;
  /** As sent, compressed. */
  bytes: number;
  text: string;
}

/** Counts what goes over the wire, which fetch does not tell. */
async function timedGet(url: URL, cookie: string): Promise<Got> {
  const began = performance.now();
  const bytes = await new Promise<{ status: number; sent: Buffer; encoding: string | undefined }>(
    (resolve, reject) => {
      request(url, { headers: { cookie, 'accept-encoding': 'gzip' } }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            sent: Buffer.concat(parts),
            encoding: answer.headers['content-encoding'],
          }),
        );
        answer.on('error', reject);
      })
        .on('error', reject)
        .end();
    },
  );
  const ms = performance.now() - began;
  const { gunzipSync } = await import('node:zlib');
  const text = (bytes.encoding === 'gzip' ? gunzipSync(bytes.sent) : bytes.sent).toString('utf8');
  return { status: bytes.status, ms, bytes: bytes.sent.length, text };
}

async function open(link: string): Promise<string> {
  const answer = await fetch(link, { redirect: 'manual' });
  const cookie = answer.headers.get('set-cookie')?.split(';')[0];
  if (cookie === undefined) throw new Error('Studio gave no session');
  return cookie;
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
