import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { WEBHOOK_PATH } from '../../src/config/webhook-path.ts';
import { appEnvironment } from '../support/app-environment.ts';
import type { GitHubStandIn } from '../support/github/stand-in.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface AppProcess {
  readonly pid: number | undefined;
  /** Where it accepts webhooks, as soon as it does; `undefined` if it ended before. */
  readonly webhookUrl: Promise<string | undefined>;
  /** Lines of its log so far. */
  readonly log: string[];
  /** Fault points that it has passed so far; none unless it is watched. */
  readonly points: string[];
  /** SIGKILL, sent before this returns: the process runs no further instruction that anybody could notice. */
  kill(): void;
  /** Asks it to stop, as an operator would. */
  stop(): Promise<void>;
  /** Resolves when the process is gone, with how it ended. */
  readonly gone: Promise<Ended>;
}

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/**
 * The real app as `npm start` runs it, optionally without a time limit for GitHub; the built one, as the container image runs it; or the
 * real one, watched: it reports its fault points, and may die at one.
 */
export type Program =
  | { kind: 'real'; endlessPatience?: boolean }
  | { kind: 'built' }
  | { kind: 'watched'; diesAt?: string };

const MAIN = { real: 'src/main.ts', built: 'dist/main.js', watched: 'test/crash/app-main.ts' };

/** Starts the app on the database in the folder. @param environment Settings beside those that every app needs. */
export function startAppProcess(
  github: GitHubStandIn,
  folder: string,
  program: Program,
  environment: Record<string, string> = {},
): AppProcess {
  const child = spawn(
    process.execPath,
    [
      ...(program.kind === 'real' && program.endlessPatience === true
        ? ['--import', join(ROOT, 'test/load/unlimited-wait.ts')]
        : []),
      ...(program.kind === 'built' ? ['--max-semi-space-size=4'] : []),
      join(ROOT, MAIN[program.kind]),
    ],
    {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...appEnvironment(github, {
          databaseUrl: `sqlite:${databaseIn(folder)}`,
          artifactsUrl: `file:${artifactsIn(folder)}`,
        }),
        ...environment,
        ...(program.kind === 'watched' && program.diesAt !== undefined
          ? { COUNTERSIGN_FAULT_POINT: program.diesAt }
          : {}),
      },
    },
  );
  const log: string[] = [];
  const points: string[] = [];
  // `close` comes after the last of its output was read.
  const gone = once(child, 'close').then(() => ({ code: child.exitCode, signal: child.signalCode }));
  const webhookUrl = new Promise<string | undefined>((resolve) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      log.push(line);
      const url = /"url":"([^"]+)"/.exec(line)?.[1];
      if (url !== undefined) resolve(`${url}${WEBHOOK_PATH}`);
    });
    void gone.then(() => resolve(undefined));
  });
  createInterface({ input: child.stdout }).on('line', (line) => points.push(line));
  return {
    pid: child.pid,
    webhookUrl,
    log,
    points,
    gone,
    kill: () => void child.kill('SIGKILL'),
    async stop() {
      child.kill('SIGTERM');
      await gone;
    },
  };
}

export type ListeningApp = Omit<AppProcess, 'pid' | 'webhookUrl'> & { pid: number; webhookUrl: string };

/** Starts the real app and waits until it listens. @throws Error with its log if it ends before. */
export async function startListening(
  github: GitHubStandIn,
  folder: string,
  {
    environment,
    program = { kind: 'real' },
  }: { program?: Program; environment?: Record<string, string> } = {},
): Promise<ListeningApp> {
  const app = startAppProcess(github, folder, program, environment);
  const webhookUrl = await app.webhookUrl;
  if (webhookUrl === undefined || app.pid === undefined) {
    throw new Error(`the app ended before it listened:\n${app.log.join('\n')}`);
  }
  return { ...app, pid: app.pid, webhookUrl };
}

export function databaseIn(folder: string): string {
  return join(folder, 'countersign.db');
}

export function artifactsIn(folder: string): string {
  return join(folder, 'artifacts');
}
