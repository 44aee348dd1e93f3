import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { beforeEach, describe, expect } from 'vitest';
import { readMigrations } from '../../src/adapters/sql/migrate.ts';
import { openSqlite, SQLITE_MIGRATIONS } from '../../src/adapters/sqlite/open.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { at } from '../support/rows.ts';
import { temporaryFolders } from '../support/temp.ts';
import { filledDatabases } from './filled-database.ts';

/**
 * Databases of every version that people may have, each table filled, migrated to the newest. `filled/<number>.sql` fills what a
 * version adds; only the newest has none, and the next migration needs one. Content that a migration changes on purpose is listed
 * here, as `table.column`, or as `table` for one that it drops.
 */
const CHANGED_ON_PURPOSE: ReadonlySet<string> = new Set([
  'chain_runs.settings_json',
  'delivery_bodies.body',
  'effects.progress_json',
  'jobs.attempts',
  'jobs.payload',
]);

const all = readMigrations(SQLITE_MIGRATIONS);
const newest = all.length;
const older = all.slice(0, -1).map(({ version }) => version);
const clock = { now: () => at(0) };
const newFolder = temporaryFolders();

type Row = Record<string, unknown>;
type Tables = Record<string, Row[]>;

let path: string;
/** Only the app can write the content of an archive, and it reads it with the run. */
const PACKED = /^(chain_runs\.archive_id|run_archives\..*|archived_keys\..*)$/;

beforeEach(() => {
  path = join(newFolder(), 'test.db');
});

describe('a filled database is migrated to the newest version', () => {
  eachFirstQuick(older)('from %i, with every row unchanged', async (version) => {
    await makeFilled(version);
    const before = look(readTables);
    await openSqlite(path, { clock }).close();
    const after = look(readTables);
    expect(look((db) => db.prepare('SELECT max(version) FROM schema_migrations').pluck().get())).toBe(newest);
    expect(kept(after, before)).toEqual(kept(before, before));
    expect(look((db) => db.pragma('foreign_key_check'))).toEqual([]);
    expect(look((db) => db.pragma('integrity_check'))).toEqual([{ integrity_check: 'ok' }]);
  });

  eachFirstQuick(older)('from %i, and the present code reads its rows', async (version) => {
    await makeFilled(version);
    const storage = openSqlite(path, { clock });
    const { read } = storage;
    const runs = await read.runs.list({});
    expect(runs.map(({ id }) => id)).toEqual(['run_2', 'run_1']);
    for (const { id } of runs) {
      expect((await read.runs.load(id))?.invocations.length).toBeGreaterThan(0);
      await Promise.all([read.runs.sessionsOf(id), read.artifacts.ofRun(id), read.effects.ofRun(id)]);
    }
    expect((await read.runs.historyOf('run_1')).map(({ subject, by }) => [subject.kind, by])).toEqual([
      ['run', null],
      ['session', null],
    ]);
    expect((await read.runs.historyOf('run_2')).map(({ by }) => by)).toEqual(
      version < 3 ? [] : [{ kind: 'person', login: 'mia' }],
    );
    if (version >= 16) {
      // Otherwise the approval would be void, because it was asked under other settings than today's.
      expect((await read.runs.load('run_1'))?.run.settings).toMatchObject({
        countersign: { count: 2, unattributed: 'one_more' },
        merge: { method: 'rebase', by: 'app', changes_requested: 'block' },
      });
    }
    expect(await read.approvals.ofInvocation('inv_2')).toMatchObject({
      id: 'apr_2',
      status: 'open',
      answers: [],
    });
    const packed = version >= 8;
    const counts = { received: 1, done: packed ? 3 : 1, failed: 1 };
    expect(await read.deliveries.countByStatus()).toMatchObject(counts);
    if (packed) expect((await read.deliveries.get(5))?.body).toEqual(Buffer.from('{"two":2}'));
    const bodies = await Promise.all([1, 2, 3].map(async (id) => (await read.deliveries.get(id))?.body));
    expect(bodies.map((body) => Buffer.from(body ?? []))).toEqual([
      Buffer.from('{"action":"opened","title":"Grüße"}'),
      Buffer.from('{}'),
      Buffer.from([0x7b, 0, 0xff, 0x7d]),
    ]);
    const [effect] = await read.effects.ofRun('run_1');
    expect(effect?.progress).toMatchObject({ body_hash: 'c0ffee' });
    expect(effect?.contentAt).toEqual(version >= 48 ? new Date('2026-01-05T12:00:00.000Z') : null);
    const waiting = await storage.transaction(({ deliveries }) => deliveries.claimUnqueued(9));
    expect(waiting.map(({ queueKey }) => queueKey)).toEqual(version < 10 ? [] : ['pr:70#3']);
    if (version >= 9) {
      expect((await read.effects.get('approval:apr_2'))?.progress).toEqual({
        unsure_until: '2026-01-05T12:00:15.000Z',
      });
    }
    const claimed = await storage.transaction(({ jobs }) => jobs.claim(at(9_999), at(10_000), 'new', 9));
    if (version >= 9) {
      expect(claimed.find(({ key }) => key === 'effect:label:1')).toMatchObject({
        payload: '{"key":"label:1"}',
        attempts: 0,
        unavailableSince: new Date('2026-01-05T11:00:00.000Z'),
        installationId: version >= 47 ? 9 : null,
      });
    }
    expect(claimed.map(({ key }) => key)).toEqual(
      expect.arrayContaining(['session:ses_2', 'effect:approval:apr_2', 'repo:70']),
    );
    const audited = await read.audit.page({ after: 0, limit: 9 });
    const merges = audited.filter(({ kind }) => kind === 'merge.made');
    expect(merges.map(({ entry }) => [entry.people, entry.merge_sha])).toEqual(
      version < 11 ? [] : [[['mia'], 'c0ffee']],
    );
    expect(audited.length - merges.length).toBe(version < 12 ? 0 : 2);
    await storage.close();
  });

  eachFirstQuick(older)('from %i, with each column both filled and empty', async (version) => {
    await makeFilled(version);
    const gaps = look((db) =>
      tablesIn(db).flatMap((table) =>
        columnsOf(db, table).flatMap(({ name, notnull, pk }) => {
          const column = db.prepare<[], number>(
            `SELECT (count("${name}") > 0) + 2 * (count(*) > count("${name}")) FROM "${table}"`,
          );
          const found = column.pluck().get() ?? 0;
          const wanted = notnull === 1 || pk > 0 ? 1 : 3;
          return found === wanted ? [] : [`${table}.${name}`];
        }),
      ),
    );
    expect(gaps.filter((column) => !PACKED.test(column))).toEqual([]);
  });
});

const filledAt = filledDatabases(clock, newFolder);

async function makeFilled(version: number): Promise<void> {
  writeFileSync(path, await filledAt(version));
}

function look<T>(work: (db: BetterSqlite3.Database) => T): T {
  const db = new BetterSqlite3(path, { readonly: true });
  try {
    return work(db);
  } finally {
    db.close();
  }
}

function tablesIn(db: BetterSqlite3.Database): string[] {
  return db
    .prepare<[], string>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('schema_migrations') AND name NOT LIKE 'sqlite_%'",
    )
    .pluck()
    .all();
}

function columnsOf(db: BetterSqlite3.Database, table: string) {
  return db.pragma(`table_info("${table}")`) as { name: string; notnull: 0 | 1; pk: number }[];
}

function readTables(db: BetterSqlite3.Database): Tables {
  return Object.fromEntries(
    tablesIn(db).map((table) => [table, db.prepare<[], Row>(`SELECT * FROM "${table}"`).all()]),
  );
}

/** The part of the tables that existed before, without what was changed on purpose; rows in a fixed order. */
function kept(tables: Tables, before: Tables): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(before)
      .filter(([table]) => !CHANGED_ON_PURPOSE.has(table))
      .map(([table, [first = {}]]) => {
        const columns = Object.keys(first).filter((column) => !CHANGED_ON_PURPOSE.has(`${table}.${column}`));
        const rows = (tables[table] ?? []).map((row) => JSON.stringify(columns.map((column) => row[column])));
        return [table, rows.sort()];
      }),
  );
}
