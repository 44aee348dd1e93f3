// @module-tag slow
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStorage } from '../../src/composition/storage.ts';
import { countersignOn, countersignProcess } from '../entrypoints/cli/support.ts';
import { appEnvironment } from '../support/app-environment.ts';
import { type GitHubStandIn, startGitHub } from '../support/github/stand-in.ts';
import { temporaryFolders } from '../support/temp.ts';
import { useChildren } from './child.ts';

/** `COUNTERSIGN_LONG=1` waits as long as an operator's process does, and restarts real ones. */
const LONG = process.env.COUNTERSIGN_LONG === '1';
const PATIENCE_MS = LONG ? 15_000 : 300;

const newFolder = temporaryFolders();
const start = useChildren();
let github: GitHubStandIn;
let path: string;

beforeEach(async () => {
  github = await startGitHub();
  path = join(newFolder(), 'countersign.db');
});
afterEach(() => github.stop());

function serve(timeoutMs: number) {
  const environment = appEnvironment(github, {
    databaseUrl: `sqlite:${path}`,
    artifactsUrl: `file:${path}.artifacts`,
  });
  return start('serving-process.ts', [String(timeoutMs)], environment);
}

test('a second server of one database waits, says so, and refuses, while the command line still works', async () => {
  const first = serve(0);
  const url = /"url":"([^"]+)"/.exec(await first.line(/"url"/))?.[1];
  const second = serve(PATIENCE_MS);
  expect(await second.ended).toBe(1);
  const [waiting, refusal, ...more] = second.lines;
  const who = `another process (pid ${first.pid} on ${hostname()}, since 2`;
  expect(JSON.parse(waiting ?? '')).toMatchObject({
    holder: { pid: first.pid },
    msg: expect.stringContaining(`waiting up to ${PATIENCE_MS / 1_000} s for ${who}`),
  });
  expect(refusal).toContain(`Countersign cannot start: its database is served by ${who}`);
  expect(more).toEqual([]);

  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const run = countersignOn(path, countersignProcess);
  const beside = await Promise.all([run('db', 'backup', `${path}.copy`), run('db', 'migrate')]);
  expect(beside.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
    beside.map(() => ({ code: 0, stderr: '' })),
  );
});

test('a server refuses a database with a changed migration, and says so', async () => {
  await (await openStorage(`sqlite:${path}`)).close();
  const db = new BetterSqlite3(path);
  const { name } = db.prepare<[], { name: string }>('SELECT name FROM schema_migrations').get() ?? {
    name: '',
  };
  db.prepare("UPDATE schema_migrations SET sha256 = 'another' WHERE name = ?").run(name);
  db.close();
  const server = serve(0);
  expect(await server.ended).toBe(1);
  expect(server.lines.join('\n')).toContain(
    `Countersign cannot start: The migration ${name} is not the one that made this database`,
  );
});

test.runIf(LONG)('a server that waits takes over when the other one gets a signal to stop', async () => {
  const first = serve(0);
  await first.line(/"url"/);
  const second = serve(15_000);
  await second.line(/waiting up to 15 s/);
  first.signal('SIGTERM');
  expect(await first.ended).toBe(0);
  await second.line(/"url"/);
  second.signal('SIGTERM');
  expect(await second.ended).toBe(0);
  expect(existsSync(`${path}.lock.json`)).toBe(false);
});
