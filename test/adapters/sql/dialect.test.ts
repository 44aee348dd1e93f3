import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import { describe, expect, it } from 'vitest';
import { caseless, isOneOf, PostgresForms, toTheEndOf } from '../../../src/adapters/sql/dialect.ts';

const sqlite = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});
const postgres = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresForms(),
  },
});

describe('a fragment with two forms', () => {
  it('has the form of the database whose connection compiles the query, and its parameters once', () => {
    const query = sql`SELECT 1 WHERE ${isOneOf(sql.ref('id'), [1, 2])} AND name = ${'a'}`;
    expect(query.compile(sqlite)).toMatchObject({
      sql: 'SELECT 1 WHERE "id" IN (SELECT value FROM json_each(?)) AND name = ?',
      parameters: ['[1,2]', 'a'],
    });
    expect(query.compile(postgres)).toMatchObject({
      sql:
        'SELECT 1 WHERE "id" IN (SELECT CAST(value AS BIGINT) FROM ' +
        'json_array_elements_text(CAST($1 AS JSON)) AS one (value)) AND name = $2',
      parameters: ['[1,2]', 'a'],
    });
  });

  it('can contain another', () => {
    const query = sql`ORDER BY ${caseless(caseless(sql`a`))}`;
    expect(query.compile(sqlite).sql).toBe('ORDER BY a COLLATE NOCASE COLLATE NOCASE');
    expect(query.compile(postgres).sql).toBe('ORDER BY lower(lower(a COLLATE "C") COLLATE "C")');
  });

  it('can be nothing', () => {
    const query = sql`SET a = 1${toTheEndOf('runs')}`;
    expect(query.compile(sqlite).sql).toBe('SET a = 1, rowid = (SELECT max(rowid) + 1 FROM "runs")');
    expect(query.compile(postgres).sql).toBe('SET a = 1');
  });
});

it.each([
  ['in', [], 'select "id" from "jobs" where FALSE'],
  ['not in', [], 'select "id" from "jobs" where TRUE'],
  ['in', [1], 'select "id" from "jobs" where "id" in ($1)'],
] as const)('a query on PostgreSQL for ids that are %s the list %j is valid', (operator, ids, text) => {
  const jobs = postgres.withTables<{ jobs: { id: number } }>().selectFrom('jobs').select('id');
  expect(jobs.where('id', operator, ids).compile().sql).toBe(text);
  expect(jobs.where(sql`${sql.ref('id')}`, operator, ids).compile().sql).toBe(text);
});
