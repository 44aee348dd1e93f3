import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
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
 * The real app as `npm start` runs it, optionally without a time limit for GitHub, or of another version with its files at `root`; the built one, as the container image runs it; or the
 * built one, which `probot run` loads; or the real one, watched: it reports its fault points, and may die at one.
 */
export type Program =
  | { kind: 'real'; endlessPatience?: boolean; root?: string }
  | { kind: 'built' }
  | { kind: 'probot' }
  | { kind: 'watched'; diesAt?: string };

const DOCKERFILE = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
const inImage = (pattern: RegExp) => pattern.exec(DOCKERFILE)?.[1]?.split(' ') ?? [];

const MAIN = {
  real: ['src/main.ts'],
  built: [...inImage(/exec node (.+) \/app\/dist\/main\.js/), 'dist/main.js'],
  probot: ['node_modules/probot/bin/probot.js', 'run', './dist/probot.js'],
  watched: ['test/crash/app-main.ts'],
};

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
      ...MAIN[program.kind],
    ],
    {
      cwd: (program.kind === 'real' && program.root) || ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...appEnvironment(github, {
          databaseUrl: `sqlite:${databaseIn(folder)}`,
          artifactsUrl: `file:${artifactsIn(folder)}`,
        }),
        ...(program.kind === 'probot'
          ? { GHE_HOST: new URL(github.url).host, GHE_PROTOCOL: 'http', LOG_FORMAT: 'json' }
          : {}),
        ...(program.kind === 'built'
          ? Object.fromEntries(inImage(/^ENV (MALLOC_.+)$/m).map((setting) => setting.split('=')))
          : {}),
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
    // Probot logs to standard output.
    createInterface({ input: program.kind === 'probot' ? child.stdout : child.stderr }).on('line', (line) => {
      log.push(line);
      const url = /"url":"([^"]+)"|Listening on (http:[^"]+)"/.exec(line)?.slice(1).find(Boolean);
      if (url !== undefined) resolve(`${url}${WEBHOOK_PATH}`);
    });
    void gone.then(() => resolve(undefined));
  });
  if (program.kind === 'watched')
    createInterface({ input: child.stdout }).on('line', (line) => points.push(line));
  else child.stdout.resume();
  if (program.kind === 'probot')
    createInterface({ input: child.stderr }).on('line', (line) => log.push(line));
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
