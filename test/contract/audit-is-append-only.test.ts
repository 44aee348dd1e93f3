import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { openSqlite } from '../../src/adapters/sqlite/open.ts';
import { aboutNothing } from '../../src/domain/audit/entry.ts';
import { at } from '../support/rows.ts';
import { temporaryFolders } from '../support/temp.ts';

const folder = temporaryFolders();
let db: BetterSqlite3.Database;

beforeEach(async () => {
  const path = join(folder(), 'test.db');
  const storage = openSqlite(path, { clock: { now: () => at(0) } });
  await storage.transaction((tx) =>
    tx.audit.record({
      kind: 'retention.pass',
      ...aboutNothing({ kind: 'app' }),
      deleted: { runs: 1 },
    }),
  );
  await storage.close();
  db = new BetterSqlite3(path);
  onTestFinished(() => {
    db.close();
  });
});

it.each([
  ['an update', "UPDATE audit_log SET kind = 'run.begun'"],
  ['a deletion', 'DELETE FROM audit_log'],
  [
    'a replacement',
    "REPLACE INTO audit_log (id, at, kind, by_json, details_json) VALUES (1, 'then', 'run.begun', '{}', '{}')",
  ],
  [
    'an upsert',
    "INSERT INTO audit_log (id, at, kind, by_json, details_json) VALUES (1, 'then', 'run.begun', '{}', '{}') ON CONFLICT DO UPDATE SET kind = 'x'",
  ],
])('the database refuses %s of a line of the audit log', (_, statement) => {
  const before = db.prepare('SELECT * FROM audit_log').all();
  expect(() => db.exec(statement)).toThrow('the audit log is append-only');
  expect(db.prepare('SELECT * FROM audit_log').all()).toEqual(before);
});
