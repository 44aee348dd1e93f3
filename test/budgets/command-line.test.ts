// @module-tag slow
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStorage } from '../../src/composition/storage.ts';
import { loadedBy } from '../support/loaded-modules.ts';

/*
 * What a command loads decides how long it takes: Node itself needs about 25 ms, the database's packages four times as long. A
 * static import in the wrong place fails here.
 */

const CLI = 'src/cli.ts';
const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'));
const env = { DATABASE_URL: `sqlite:${join(folder, 'countersign.db')}` };

/** `skill list` also shows the packages of indexes if there is a database. */
const WITHOUT_DATABASE = { DATABASE_URL: `sqlite:${join(folder, 'nowhere.db')}` };

beforeAll(async () => (await openStorage(env.DATABASE_URL)).close());
afterAll(() => rmSync(folder, { recursive: true }));

/** The layers that a command loads, such as `adapters/sqlite`. */
const foldersOf = (own: readonly string[], layer: string) =>
  [...new Set(own.map((file) => /^src\/(\w+\/[\w-]+)\//.exec(file)?.[1] ?? ''))]
    .filter((folder) => folder.startsWith(layer))
    .sort();

describe('a command that only describes the program', () => {
  it.each([['--help'], ['--version']])(
    'loads no package but commander and the cache of the redaction, and at most 22 of our files, for %s',
    async (option) => {
      const { code, own, packages } = await loadedBy([CLI, option]);

      expect(code).toBe(0);
      expect(packages).toEqual(['commander', 'lru-cache']);
      expect(own.length).toBeLessThanOrEqual(22);
    },
  );

  it('prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

    expect((await loadedBy([CLI, '--version'])).stdout).toBe(`${version}\n`);
    expect(JSON.parse((await loadedBy([CLI, '--version', '--json'])).stdout)).toEqual({ version });
  });
});

describe('a command that reads the database', () => {
  it.each([['run list'], ['delivery list'], ['audit export']])(
    'loads SQLite, and no other adapter, for %s',
    async (line) => {
      const { code, own, packages } = await loadedBy([CLI, ...line.split(' ')], env);

      expect(code).toBe(0);
      expect(packages).toEqual([
        'better-sqlite3',
        'commander',
        'fastest-levenshtein',
        'kysely',
        'lru-cache',
        'zod',
      ]);
      expect(foldersOf(own, 'adapters')).toEqual(['adapters/sql', 'adapters/sqlite']);
      expect(foldersOf(own, 'engine')).toEqual([]);
      expect(foldersOf(own, 'skills')).toEqual([]);
      expect(own.length).toBeLessThanOrEqual(196);
    },
  );
});

describe('a command that reads files of a repository', () => {
  it.each([['chain list'], ['chain lint'], ['skill list'], ['skill lint']])(
    'loads no adapter, log, analyzer package or model for %s',
    async (line) => {
      const { code, own, packages } = await loadedBy([CLI, ...line.split(' ')], WITHOUT_DATABASE);

      expect(code).toBe(0);
      expect(foldersOf(own, 'adapters')).toEqual([]);
      expect(packages.filter((name) => !PARSERS.has(name))).toEqual([]);
    },
  );
});

/** What chains and skills are read with, and the cache of the code that knows the names of steps. */
const PARSERS = new Set([
  'croner',
  'commander',
  'fastest-levenshtein',
  'lru-cache',
  'nunjucks',
  'a-sync-waterfall',
  'asap',
  're2js',
  'yaml',
  'zod',
]);
