import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
/** Pages that name files and folders under `src/`, in backticks and mostly without that prefix. */
const PAGES = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/glossary.md', 'docs/rules.md', 'docs/security.md'];
const LAYERS = readdirSync(join(ROOT, 'src'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const PATH = new RegExp(`\`(?:src/)?((?:${LAYERS.join('|')})/[\\w./-]*)\``, 'g');

test.each(PAGES)('%s names only files and folders that exist', (page) => {
  const named = [...readFileSync(join(ROOT, page), 'utf8').matchAll(PATH)].map(([, path = '']) => path);
  // `skills/` is also a folder beside `src/`.
  expect(
    named.filter((path) => !existsSync(join(ROOT, 'src', path)) && !existsSync(join(ROOT, path))),
  ).toEqual([]);
});

test('docs/glossary.md names only tables that the app creates', () => {
  const migrations = ['sqlite', 'postgres'].flatMap((database) => {
    const folder = join(ROOT, 'migrations', database);
    return readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  });
  const sql = [...migrations, readFileSync(join(ROOT, 'src/adapters/postgres/setup.ts'), 'utf8')];
  const tables = new Set(
    sql.flatMap((text) =>
      [...text.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?(\w+)/g)].map(([, name]) => name),
    ),
  );
  const rows = readFileSync(join(ROOT, 'docs/glossary.md'), 'utf8').split('\n');
  const named = rows.flatMap((row) => {
    const [word, , code, table] = row.split(/(?<!\\)\|/).slice(1, -1);
    if (word === undefined || code === undefined || table === undefined) return [];
    return [...table.replace(/\([^)]*\)/g, '').matchAll(/`(\w+)`/g)].map(([, name]) => name);
  });
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((name) => !tables.has(name))).toEqual([]);
});

/** The README of each folder of `src`. */
const FOLDER_PAGES = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name === 'README.md')
  .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));

test.each(FOLDER_PAGES)('%s links only to files and folders that exist', (page) => {
  const links = [...readFileSync(join(ROOT, page), 'utf8').matchAll(/\]\(([^)\s]+)\)/g)].map(
    ([, target = '']) => target,
  );
  expect(links.length).toBeGreaterThan(0);
  expect(links.filter((target) => !existsSync(join(ROOT, dirname(page), target)))).toEqual([]);
});
