import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { appEnvironment } from '../test/support/app-environment.ts';
import type { GitHubStandIn } from '../test/support/github/stand-in.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

export interface AppProcess {
  url: string;
  databaseUrl: string;
  artifactsUrl: string;
  logFile: string;
  /** Stops it as an operator would. */
  stop(): Promise<void>;
}

/**
 * Starts the real app in a process of its own, as `npm start` does, and waits until it is ready.
 * @param databaseUrl a fresh file in the folder by default
 */
export async function startAppProcess(
  github: GitHubStandIn,
  folder: string,
  settings: Record<string, string> = {},
  databaseUrl = `sqlite:${join(folder, 'countersign.db')}`,
): Promise<AppProcess> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const artifactsUrl = `file:${join(folder, 'artifacts')}`;
  const logFile = join(folder, 'app.log');
  const child = spawn(process.execPath, [join(ROOT, 'src/main.ts')], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...appEnvironment(github, { databaseUrl, artifactsUrl, port }), ...settings },
  });
  child.stderr?.pipe(createWriteStream(logFile));
  await ready(child, url, logFile);
  return { url, databaseUrl, artifactsUrl, logFile, stop: () => stop(child) };
}

/** Starts Studio beside the app, on the same database, and reads its link. */
export async function startStudioProcess(
  app: Pick<AppProcess, 'databaseUrl' | 'artifactsUrl'>,
): Promise<{ link: string; stop(): Promise<void> }> {
  const command = ['studio', '--port', '0', '--database', app.databaseUrl];
  const child = spawn(process.execPath, [join(ROOT, 'src/cli.ts'), ...command], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, ARTIFACTS_URL: app.artifactsUrl, LOG_LEVEL: 'error' },
  });
  const link = await new Promise<string>((resolve, reject) => {
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const found = /http:\S+/.exec(said);
      if (found && said.includes('\n')) resolve(found[0]);
    });
    child.once('exit', () => reject(new Error(`Studio did not start: ${said}`)));
  });
  return { link, stop: () => stop(child) };
}

async function ready(child: ChildProcess, url: string, logFile: string): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    if (child.exitCode !== null) throw new Error(`the app ended at once; its log is ${logFile}`);
    const answered = await fetch(`${url}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
    if (answered) return;
    await sleep(100);
  }
  child.kill('SIGKILL');
  throw new Error(`the app was not ready within 60 s; its log is ${logFile}`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  await ended;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
