import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { createTools } from '../../../src/cli-tools.ts';
import { isPostgres } from '../../../src/composition/storage.ts';
import type { Log } from '../../../src/core/log.ts';
import { runCli } from '../../../src/entrypoints/cli/command-line.ts';
import { type Setting, start } from '../../scenario/support.ts';
import type { Harness } from '../../support/harness.ts';
import { rowsOf } from '../../support/rows-of.ts';

/** The app for one test, with everything that leaves it recorded. */
export interface RecordedApp extends Harness {
  /** Everything that came out so far, by its place. */
  cameOut(): Promise<Map<string, string>>;
  /** The credentials that the app has sent. */
  credentials: Set<string>;
}

/** Unlike JSON, this shows errors. */
export const UNCUT = { depth: null, maxStringLength: null, maxArrayLength: null };

export async function recordedApp(setting: Setting): Promise<RecordedApp> {
  const lines: string[] = [];
  const keep = (fields: object, message: string) => void lines.push(`${inspect(fields, UNCUT)} ${message}`);
  const log: Log = { debug: keep, info: keep, warn: keep, error: keep };
  const harness = await start({ ...setting, log });
  const requests: string[] = [];
  const credentials = new Set<string>();
  harness.github.onRequest(({ method, path, body, headers }) => {
    requests.push(`${method} ${JSON.stringify(body)}`);
    const [, credential] = /^\w+ (.+)$/.exec(String(headers.authorization ?? '')) ?? [];
    if (credential !== undefined) credentials.add(credential);
    if (path.length > 2_000) throw new Error('a path that long holds somebody’s text');
  });
  return Object.assign(harness, {
    credentials,
    cameOut: async () =>
      new Map([
        ['log', lines.join('\n')],
        ['requests', requests.join('\n')],
        ...(await tablesOf(harness.config.databaseUrl)),
        ['blobs', filesIn(harness.config.artifactsUrl.slice('file:'.length)).join('\n')],
        ['command line', await commandLine(harness)],
      ]),
  });
}

/** Every row of every table as text, except the deliveries' own bodies, which are stored as they were signed. */
async function tablesOf(databaseUrl: string): Promise<[string, string][]> {
  const tables = await rowsOf<{ name: string }>(
    databaseUrl,
    isPostgres(databaseUrl)
      ? "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'"
      : "SELECT name FROM sqlite_schema WHERE type = 'table'",
  );
  const texts: [string, string][] = [];
  for (const { name } of tables) {
    if (name === 'body_packs') continue;
    const rows = await rowsOf(databaseUrl, `SELECT * FROM "${name}"`);
    texts.push([`table ${name}`, JSON.stringify(rows)]);
  }
  return texts;
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.name}\n${readFileSync(join(entry.parentPath, entry.name), 'utf8')}`);
}

/** Everything that the command line prints about what happened, as text and as JSON. */
async function commandLine({ config, app, clock }: Harness): Promise<string> {
  const tools = createTools({ DATABASE_URL: config.databaseUrl });
  const runs = await app.storage.read.runs.list({ limit: 100 });
  let said = '';
  const say = (text: string) => {
    said += text;
  };
  const asked = [
    ['run', 'list'],
    ['delivery', 'list'],
    ...runs.flatMap(({ id }) => [
      ['run', 'show', id],
      ['run', 'why', id],
    ]),
  ];
  for (const argv of asked) {
    for (const args of [argv, [...argv, '--json']]) {
      await runCli(args, { cwd: '/', clock, tools, out: say, err: say });
    }
  }
  return said;
}

/** Which of the needles are visible where, as `table effects: AKIA…`; empty if none is. */
export function visibleSecrets(places: ReadonlyMap<string, string>, needles: Iterable<string>): string[] {
  return [...needles].flatMap((needle) =>
    [...places].flatMap(([place, text]) => (text.includes(needle) ? [`${place}: ${needle}`] : [])),
  );
}
