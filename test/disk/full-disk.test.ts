// @module-tag slow
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A_RECHECK, approvals, checkLines, MERGE_ONLY, open, react, start } from '../scenario/support.ts';
import { routesOf } from '../support/github/route.ts';
import { type Harness, REPO } from '../support/harness.ts';
import { until } from '../support/until.ts';
import { keepingLog } from './log-lines.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';

/** Enough for the story and its log, which is moved into the database at 32 MB. */
const MEGABYTES = 24;

/** By then GitHub has the comment, or has merged, and the app can no longer record that. */
const TOLD = [
  'POST /repos/{owner}/{repo}/issues/{number}/comments',
  'PUT /repos/{owner}/{repo}/pulls/{number}/merge',
];

const probe = mountSmallDisk(1);
if (typeof probe !== 'string') probe.remove();
const because = typeof probe === 'string' ? ` (${probe})` : '';

describe.skipIf(typeof probe === 'string')(`the app on a disk that is full${because}`, () => {
  let disk: SmallDisk;
  beforeEach(() => {
    const mounted = mountSmallDisk(MEGABYTES);
    if (typeof mounted === 'string') throw new Error(mounted);
    disk = mounted;
  });
  // Registered before the harness's own cleanup, and so run after it.
  afterEach(() => disk.remove());

  async function startOnDisk() {
    const folder = join(disk.folder, 'app');
    mkdirSync(folder);
    const { log, lines } = keepingLog();
    return { harness: await start({ chain: MERGE_ONLY, folder, log }), lines };
  }

  const ready = async ({ app }: Harness) => (await fetch(`${app.url}/readyz`)).status;

  it('refuses webhooks, logs why once a minute, and continues by itself when there is room', async () => {
    const { harness, lines } = await startOnDisk();
    const { github, clock } = harness;
    const { number, headSha } = await open(harness);
    await harness.advance(A_RECHECK);
    expect(await ready(harness)).toBe(200);

    disk.fill();
    const before = github.deliveries.length;
    for (let n = 0; n < 5; n++) await github.comment(REPO, number, 'ada', `Ping ${n}`);
    await github.settle();
    const refused = github.deliveries.slice(before);
    expect(refused.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503]);
    expect(await ready(harness)).toBe(503);
    expect(await harness.app.storage.read.runs.list({ active: true })).toHaveLength(1);
    await react(harness, number, 'mia');
    clock.advance(A_RECHECK);
    harness.app.queue.wake();
    await until('the queue to say so', () => lines.find(({ message }) => message.startsWith('the queue')));
    expect(await ready(harness)).toBe(503);
    const full = expect.stringMatching(/The disk that holds the database .* is full\. Make room on it/);
    const messages = lines.map(({ message }) => message);
    expect(messages.sort()).toEqual([
      'not ready',
      expect.stringMatching(/^the queue could not reach its database: The disk .* is full/),
      'webhook could not be recorded',
    ]);
    expect(lines.map(({ fields }) => fields)).toEqual(
      lines.map(() => expect.objectContaining({ err: expect.objectContaining({ message: full }) })),
    );
    expect(github.merges).toEqual([]);

    disk.makeRoom();
    expect(await ready(harness)).toBe(200);
    for (const { guid } of refused) expect(await github.redeliver(guid)).toBe(202);
    await harness.advance(30_000);
    expect(github.merges).toHaveLength(1);
    expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
    expect(approvals(harness, number)).toHaveLength(1);
    expectWhole(harness);
  });

  it('does everything once when the disk fills up while GitHub executes a write', async () => {
    const { harness, lines } = await startOnDisk();
    const { github } = harness;
    const left = new Set(TOLD);
    github.onRequest((request) => {
      if (!routesOf(request).some((route) => left.delete(route))) return;
      disk.fill();
      // In real time, because the app's own clock does not move meanwhile.
      setTimeout(() => disk.makeRoom(), 100);
    });
    const { number, headSha } = await open(harness);
    await harness.advance(20_000);
    await react(harness, number, 'mia');
    await harness.advance(30_000);
    expect([...left]).toEqual([]);
    expect(lines.map(({ message }) => message)).not.toContain('a step threw');
    expect(github.merges).toHaveLength(1);
    expect(approvals(harness, number)).toHaveLength(1);
    expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
    expectWhole(harness);
  });
});

function expectWhole({ config }: Harness): void {
  const db = new BetterSqlite3(config.databaseUrl.slice('sqlite:'.length), { readonly: true });
  try {
    expect(db.pragma('integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect(db.pragma('foreign_key_check')).toEqual([]);
  } finally {
    db.close();
  }
}
