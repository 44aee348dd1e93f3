import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, sql } from 'kysely';
import { expect, test } from 'vitest';
import { PostgresForms } from '../../../src/adapters/sql/dialect.ts';
import type { Database } from '../../../src/adapters/sql/schema.ts';

const db = new Kysely<Database>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (on) => new PostgresIntrospector(on),
    createQueryCompiler: () => new PostgresForms(),
  },
});

test.each([
  ['in', [], 'select "id" from "jobs" where FALSE'],
  ['not in', [], 'select "id" from "jobs" where TRUE'],
  ['in', [1], 'select "id" from "jobs" where "id" in ($1)'],
] as const)('a query on PostgreSQL for ids that are %s the list %j is valid', (operator, ids, text) => {
  expect(db.selectFrom('jobs').select('id').where('id', operator, ids).compile().sql).toBe(text);
  const quoted = sql`${sql.ref('id')}`;
  expect(db.selectFrom('jobs').select('id').where(quoted, operator, ids).compile().sql).toBe(text);
});
