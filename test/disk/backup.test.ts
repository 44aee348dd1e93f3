// @module-tag slow

import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { WEBHOOK_PATH } from '../../src/config/webhook-path.ts';
import { countersignOn, countersignProcess } from '../entrypoints/cli/support.ts';
import { A_RECHECK, approvals, checkLines, MERGE_ONLY, open, react, start } from '../scenario/support.ts';
import type { Harness } from '../support/harness.ts';

/** Deliveries that are under way while the copy is made. */
const DELIVERIES = process.env.COUNTERSIGN_LONG === '1' ? 5_000 : 100;

const LEASE_MS = 30_000;

it('a copy made under load is complete, and an app that starts on it continues', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-backup-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const harness = await start({ chain: MERGE_ONLY });
  const { github, config } = harness;
  const { number, headSha } = await open(harness);
  await harness.advance(A_RECHECK);
  expect(approvals(harness, number)).toHaveLength(1);

  const path = config.databaseUrl.slice('sqlite:'.length);
  const copy = join(folder, 'copy.db');
  const pouring = pour(harness, () => existsSync(copy));
  expect(await countersignOn(path, countersignProcess)('db', 'backup', copy)).toMatchObject({ code: 0 });
  const { during, statuses } = await pouring;
  expect(during).toBeGreaterThan(0);
  expect([...statuses]).toEqual([202]);

  const db = new BetterSqlite3(copy, { readonly: true });
  expect(db.pragma('integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(db.pragma('foreign_key_check')).toEqual([]);
  // Each delivery was recorded with its body, and has a job or will get one; or it does not exist.
  const torn =
    db.prepare(`SELECT guid FROM deliveries d WHERE status = 'received' AND queue_key IS NULL AND NOT EXISTS (
    SELECT 1 FROM jobs WHERE kind = 'delivery' AND payload ->> 'deliveryId' = d.id)
    OR NOT EXISTS (SELECT 1 FROM delivery_bodies WHERE delivery_id = d.id)`);
  expect(torn.all()).toEqual([]);
  db.close();

  // Artifacts are copied after the database: every row then has its file, and an extra file does no harm.
  cpSync(config.artifactsUrl.slice('file:'.length), join(folder, 'artifacts'), { recursive: true });
  config.databaseUrl = `sqlite:${copy}`;
  config.artifactsUrl = `file:${join(folder, 'artifacts')}`;
  await harness.restart();
  // A process that still runs holds what was under way when the copy was made: this one.
  harness.clock.advance(LEASE_MS);
  harness.app.queue.wake();
  await harness.settle();
  expect(await harness.app.storage.read.deliveries.countByStatus()).toMatchObject({ received: 0, failed: 0 });
  await react(harness, number, 'mia');
  await harness.advance(A_RECHECK);
  expect(github.merges).toHaveLength(1);
  expect(approvals(harness, number)).toHaveLength(1);
  expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
});

/** Posts deliveries until the copy has begun and `DELIVERIES` more have been sent. */
async function pour({ app, github }: Harness, copying: () => boolean) {
  const statuses = new Set<number>();
  let during = 0;
  while (during < DELIVERIES) {
    const posts = Array.from({ length: 20 }, async () => {
      const { headers, body } = github.signedDelivery('star', { text: 'x'.repeat(10_000) });
      const response = await fetch(app.url + WEBHOOK_PATH, { method: 'POST', headers, body });
      await response.arrayBuffer();
      statuses.add(response.status);
    });
    await Promise.all(posts);
    if (copying()) during += posts.length;
  }
  return { during, statuses };
}
