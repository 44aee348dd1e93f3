import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { WEBHOOK_PATH } from '../../src/webhook/server.ts';
import type { GitHubStandIn } from '../support/github/stand-in.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface AppProcess {
  webhookUrl: string;
  /** Lines of its log so far. */
  readonly log: string[];
  /** SIGKILL, sent before this returns: the process runs not one more of its instructions that anybody could see. */
  kill(): void;
  /** Asks it to stop, as an operator would. */
  stop(): Promise<void>;
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>;
}

/** Starts the real app as `npm start` does, on the database in the folder, and waits until it listens. */
export async function startAppProcess(github: GitHubStandIn, folder: string): Promise<AppProcess> {
  const child = spawn(process.execPath, [join(ROOT, 'src/main.ts')], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH,
      APP_ID: String(github.app.id),
      PRIVATE_KEY: github.app.privateKey,
      WEBHOOK_SECRET: github.app.webhookSecret,
      GITHUB_API_URL: github.url,
      HOST: '127.0.0.1',
      PORT: '0',
      DATABASE_URL: `sqlite:${databaseIn(folder)}`,
      ARTIFACTS_URL: `file:${join(folder, 'artifacts')}`,
      LOG_LEVEL: 'info',
    },
  });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const log: string[] = [];
  const url = await listening(child, log);
  return {
    webhookUrl: `${url}${WEBHOOK_PATH}`,
    log,
    gone,
    kill: () => void child.kill('SIGKILL'),
    async stop() {
      child.kill('SIGTERM');
      await gone;
    },
  };
}

export function databaseIn(folder: string): string {
  return join(folder, 'countersign.db');
}

/** The URL from the log line that says where it listens. @throws Error with the log when the process ends before. */
function listening(child: ChildProcess, log: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    if (!child.stderr) throw new Error('the app was started without a pipe for its log');
    createInterface({ input: child.stderr }).on('line', (line) => {
      log.push(line);
      const url = /"url":"([^"]+)"/.exec(line)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once('exit', () => reject(new Error(`the app ended before it listened:\n${log.join('\n')}`)));
  });
}
