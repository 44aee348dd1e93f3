import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import BetterSqlite3 from 'better-sqlite3';
import { createTools } from '../../../src/cli-tools.ts';
import { openStorage } from '../../../src/composition/storage.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { type CliParts, runCli } from '../../../src/entrypoints/cli/command-line.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { bareEnvironment } from '../../support/app-environment.ts';

const MAIN = fileURLToPath(new URL('../../../src/cli.ts', import.meta.url));

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

interface Surroundings {
  cwd?: string;
  env?: Record<string, string>;
}

/**
 * The real command line, in this process: starting one takes longer than most commands do. Its environment has only what is
 * given.
 */
export async function countersign(
  args: readonly string[],
  { cwd = process.cwd(), env = {} }: Surroundings = {},
): Promise<Ended> {
  const { code, out, err } = await answered(args, { cwd, clock: systemClock, tools: createTools(env, cwd) });
  return { code, stdout: out, stderr: err };
}

/** What the command line prints in this environment. */
export async function answered(args: readonly string[], parts: Omit<CliParts, 'out' | 'err'>) {
  const seen = { out: '', err: '' };
  const code = await runCli(args, {
    ...parts,
    out: (text) => {
      seen.out += text;
    },
    err: (text) => {
      seen.err += text;
    },
  });
  return { code, ...seen };
}

/** The same as its own process, for what only that shows: how it ends, and what it does beside other processes. */
export function countersignProcess(
  args: readonly string[],
  { cwd, env = {} }: Surroundings = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const options = { env: { ...bareEnvironment(), ...env }, ...(cwd === undefined ? {} : { cwd }) };
    execFile(process.execPath, [MAIN, ...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      if (typeof code === 'number') resolve({ code, stdout, stderr });
      else reject(error);
    });
  });
}

/** A command line for one database file. */
export function countersignOn(path: string, run: typeof countersign = countersign) {
  return countersignAt(`sqlite:${path}`, run);
}

/** A command line for one database, by its URL. */
export function countersignAt(databaseUrl: string, run: typeof countersign = countersign) {
  return (...args: string[]) => run(args, { env: { DATABASE_URL: databaseUrl } });
}

/** Creates the database file, or opens it, as the app does, and writes to it. */
export async function seed(path: string, write: (storage: Storage) => Promise<void>): Promise<void> {
  const storage = await openStorage(`sqlite:${path}`, { clock: systemClock });
  await write(storage);
  await storage.close();
}

export interface QueuedJob {
  kind: string;
  key: string;
  payload: unknown;
}

/** What waits in the queue, read without our own code. */
export function jobsIn(path: string): QueuedJob[] {
  const db = new BetterSqlite3(path, { readonly: true });
  const rows = db
    .prepare<[], { kind: string; key: string; payload: string }>('SELECT kind, key, payload FROM jobs')
    .all();
  db.close();
  return rows.map((row) => ({ ...row, payload: JSON.parse(row.payload) }));
}

/** Changes the file as no version of the app would. */
export function tamper(path: string, sql: string): void {
  const db = new BetterSqlite3(path);
  db.exec(sql);
  db.close();
}

export const parsed = ({ stdout }: Ended): unknown => JSON.parse(stdout);
