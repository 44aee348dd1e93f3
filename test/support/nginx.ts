import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './app-environment.ts';

const PROGRAM = '/usr/sbin/nginx';

export const NGINX_CONFIGURATION: string = readFileSync(
  new URL('../../deploy/nginx.conf', import.meta.url),
  'utf8',
);

export const hasNginx: boolean = existsSync(PROGRAM);

/** Why tests with nginx are skipped, for their names. */
export const WITHOUT_NGINX = hasNginx ? '' : ' (skipped: apt-get install nginx)';

const endAtSignal = () => process.exit(1);

/**
 * nginx with deploy/nginx.conf before processes on this machine. Debian's is older than names that are looked up again, so the
 * configuration has addresses instead, as its comment says.
 * @param addresses such as 127.0.0.1:3000, the first of which gets the first request
 */
export async function startNginx(
  addresses: readonly string[],
): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-nginx-'));
  // Its workers are another user.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, configurationFor({ addresses, port, folder }));
  const nginx = spawn(PROGRAM, ['-p', folder, '-e', 'stderr', '-c', file, '-g', 'daemon off;'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const log: string[] = [];
  nginx.stderr.setEncoding('utf8').on('data', (text: string) => log.push(text));
  const endWithThis = () => void nginx.kill();
  process.once('exit', endWithThis);
  // Vitest ends the processes of its tests by a signal, which raises no such event by itself.
  process.once('SIGTERM', endAtSignal);
  while (!(await listens(port))) {
    if (nginx.exitCode !== null) throw new Error(`nginx did not start: ${log.join('')}`);
    await sleep(20);
  }
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      process.off('exit', endWithThis);
      process.off('SIGTERM', endAtSignal);
      const ended = once(nginx, 'exit');
      nginx.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function configurationFor({
  addresses,
  port,
  folder,
}: {
  addresses: readonly string[];
  port: number;
  folder: string;
}): string {
  const servers = (how: string) => addresses.map((address) => `    server ${address}${how};\n`).join('');
  return NGINX_CONFIGURATION.replaceAll(/(?:^ +server [\w-]+:\d+(.*) resolve;\n)+/gm, (_, how: string) =>
    servers(how),
  )
    .replaceAll(/^ *(resolver|zone) .+\n/gm, '')
    .replace('listen 8080;', `listen 127.0.0.1:${port};`)
    .replaceAll('/tmp/', `${folder}/`);
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
