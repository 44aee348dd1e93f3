import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkMigration } from '../../../src/analyzers/builtin/sql-migrations.ts';
import { describeRules, lookAt, type Row, rulesOf } from './table.ts';

const PATH = 'db/migrations/1.sql';
const found = (text: string, path = PATH, others: readonly string[] = []) =>
  lookAt(checkMigration, path, { [path]: text }, others);

const ROWS: Row<string>[] = [
  ['drop-database', 'DROP DATABASE shop;', "COMMENT ON DATABASE shop IS 'drop database';"],
  ['drop-database', 'drop schema if exists old cascade', 'DROP TABLE schema_versions'],
  ['drop-table', 'DROP TABLE IF EXISTS users;', "INSERT INTO log VALUES ('DROP TABLE users');"],
  ['drop-table', '/*!50001 DROP TABLE users */;', '/* DROP TABLE users; */ SELECT 1;'],
  ['drop-table', 'DO $$ BEGIN DROP TABLE users; END $$;', 'CREATE FUNCTION f() AS $$ DROP TABLE users $$;'],
  ['drop-column', 'ALTER TABLE a ADD b int, DROP COLUMN c;', 'ALTER TABLE a DROP CONSTRAINT c;'],
  ['drop-column', 'ALTER TABLE "drop" DROP c;', 'ALTER TABLE a ALTER COLUMN c DROP DEFAULT;'],
  ['truncate', 'TRUNCATE users;', 'SELECT truncate(1.5, 0);'],
  ['delete-all', 'DELETE FROM users;', 'DELETE FROM users WHERE id = 1;'],
  ['delete-all', 'DELETE FROM users -- WHERE id = 1', 'DELETE FROM users USING a WHERE a.id = users.id'],
  ['delete-all', 'DELETE FROM users WHERE 1 = 1', 'DELETE FROM users WHERE 1 = 1 AND a'],
  ['update-all', "UPDATE users SET name = ' WHERE ';", 'UPDATE users SET name = 1 WHERE id = 2;'],
  ['cascade', 'DROP VIEW v CASCADE;', 'CREATE TABLE a (b int REFERENCES c ON DELETE CASCADE);'],
  [
    'not-null-without-default',
    'ALTER TABLE a ADD COLUMN b int NOT NULL;',
    'ALTER TABLE a ADD COLUMN b int NOT NULL DEFAULT 0;',
  ],
  [
    'not-null-without-default',
    'ALTER TABLE a ADD b numeric(10, 2) NOT NULL',
    'CREATE TABLE a (id int); ALTER TABLE a ADD b int NOT NULL;',
  ],
  ['set-not-null', 'ALTER TABLE a ALTER b SET NOT NULL;', 'ALTER TABLE a ALTER b DROP NOT NULL;'],
  ['change-type', 'ALTER TABLE a ALTER COLUMN b TYPE text;', 'ALTER TABLE a ADD type text;'],
  ['change-type', 'ALTER TABLE `a` MODIFY b bigint;', 'ALTER TABLE a ALTER b SET DEFAULT 1;'],
  ['rename', 'ALTER TABLE a RENAME COLUMN b TO c;', "COMMENT ON TABLE a IS 'to rename';"],
  ['rename', 'RENAME TABLE a TO b;', 'ALTER TABLE a ADD rename int;'],
  ['index-locks-writes', 'CREATE UNIQUE INDEX i ON a (b);', 'CREATE INDEX CONCURRENTLY i ON a (b);'],
  ['index-locks-writes', 'DROP INDEX i;', 'CREATE TABLE s.a (b int); CREATE INDEX i ON s.a (b);'],
  ['index-locks-writes', 'CREATE INDEX i ON a (b);', 'CREATE INDEX i ON `a` (b);'],
  [
    'concurrently-in-transaction',
    'BEGIN; CREATE INDEX CONCURRENTLY i ON a (b); COMMIT;',
    'CREATE INDEX CONCURRENTLY i ON a (b);',
  ],
  [
    'constraint-scans-table',
    'ALTER TABLE a ADD CONSTRAINT f FOREIGN KEY (b) REFERENCES c (d);',
    'ALTER TABLE a ADD CONSTRAINT f FOREIGN KEY (b) REFERENCES c (d) NOT VALID;',
  ],
  [
    'unique-locks-table',
    'ALTER TABLE a ADD CONSTRAINT u UNIQUE (b);',
    'ALTER TABLE a ADD CONSTRAINT u UNIQUE USING INDEX i;',
  ],
  ['explicit-lock', 'LOCK TABLE a;', 'SELECT 1 FOR UPDATE SKIP LOCKED;'],
  ['rewrites-table', 'VACUUM FULL a;', 'VACUUM ANALYZE a;'],
  ['rewrites-table', 'REINDEX TABLE a;', 'REINDEX TABLE CONCURRENTLY a;'],
  [
    'row-security-off',
    'ALTER TABLE a DISABLE ROW LEVEL SECURITY;',
    'ALTER TABLE a ENABLE ROW LEVEL SECURITY;',
  ],
  ['grant-to-everybody', 'GRANT SELECT ON a TO PUBLIC;', 'GRANT SELECT ON public.a TO reader;'],
  [
    'dynamic-sql',
    "DO $do$ BEGIN EXECUTE 'DROP TABLE ' || name; END $do$;",
    'CREATE TRIGGER t AFTER INSERT ON a EXECUTE FUNCTION f();',
  ],
  ['no-rollback', '-- +goose Up\nSELECT 1;', '-- +goose Up\nSELECT 1;\n-- +goose Down\nSELECT 2;'],
  ['unreadable', "SELECT 'it;", "SELECT 'it''s';"],
  ['unreadable', "SELECT '\\'; DROP TABLE users; --';", 'SELECT $q$ \' " $q$;'],
  ['unreadable', '/* /* */ DROP TABLE users; */', '/* one */ SELECT 1; /* two */'],
];

describeRules('sql-migrations', ROWS, (text) => rulesOf(found(text)));

describe('a migration', () => {
  test('is reported statement by statement, each at its own lines', () => {
    const text =
      '-- one\nCREATE TABLE a (\n  b int\n);\n\nALTER TABLE c\n  ADD d int,\n  DROP e;\nTRUNCATE f;\n';
    expect(found(text)).toEqual(['drop-column:8', 'truncate:9']);
  });

  test.each(['db/migrations/1.down.sql', 'db/migrations/1/down.sql', 'db/rollback/1.sql', 'db/U1__undo.sql'])(
    'that reverts another may drop what that one created: %s',
    (path) => {
      expect(found('DROP TABLE users;', path)).toEqual([]);
    },
  );

  test('may drop things after the mark that begins its down part', () => {
    const text = '-- migrate:up\nDROP TABLE a;\n-- migrate:down\nDROP TABLE b;\n';
    expect(found(text)).toEqual(['drop-table:2']);
  });

  test('in a pair of files needs the other one', () => {
    expect(found('SELECT 1;', 'db/1.up.sql')).toEqual(['no-rollback:1']);
    expect(found('SELECT 1;', 'db/1.up.sql', ['db/1.down.sql'])).toEqual([]);
  });

  test('of any text is read without an error', () => {
    const piece = fc.constantFrom(
      "'",
      '"',
      '`',
      '$$',
      '--',
      '/*',
      '*/',
      ';',
      '(',
      ',',
      '\n',
      ' DROP TABLE a ',
      ' ALTER TABLE ',
      ' ADD ',
      'DO ',
      '\\',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 30 }), (pieces) => {
        const text = pieces.join('');
        const last = text.split('\n').length;
        for (const one of found(text)) expect(Number(one.split(':')[1])).toBeLessThanOrEqual(last);
      }),
      { numRuns: 500 },
    );
  });

  test('that drops a table outside of quotes is found, whatever precedes it', () => {
    const quoted = fc.constantFrom("'a''b'", '"x"', '$q$ ; $q$', '/* ; */', "'-- '", '-- it\n');
    fc.assert(
      fc.property(fc.array(quoted, { maxLength: 10 }), (before) => {
        expect(rulesOf(found(`SELECT ${before.join(' ')};\nDROP TABLE a;`))).toContain('drop-table');
      }),
    );
  });
});
