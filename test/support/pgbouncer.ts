import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { memoryFolder } from './memory-folder.ts';
import { asNobody, databaseOf } from './postgres.ts';

const PROGRAM = '/usr/sbin/pgbouncer';

/** Why tests through PgBouncer are skipped, for their names. */
export const WITHOUT_PGBOUNCER = existsSync(PROGRAM) ? '' : ' (skipped: apt-get install pgbouncer)';
export const hasPgBouncer: boolean = existsSync(PROGRAM);

/**
 * PgBouncer in transaction mode before a server: a client keeps a connection of the server only for the length of a transaction.
 * All clients share two connections, so that each gets one that another client has used.
 */
export async function startPgBouncer(serverFolder: string): Promise<{
  urlFor(databaseUrl: string): string;
  stop(): Promise<void>;
}> {
  const folder = mkdtempSync(join(memoryFolder(), 'countersign-bouncer-'));
  const configuration = join(folder, 'pgbouncer.ini');
  writeFileSync(
    configuration,
    [
      '[databases]',
      `* = host=${serverFolder} user=countersign`,
      '[pgbouncer]',
      'listen_addr =',
      `unix_socket_dir = ${folder}`,
      'auth_type = any',
      'pool_mode = transaction',
      'default_pool_size = 2',
      'max_client_conn = 200',
    ].join('\n'),
  );
  if (asNobody.uid !== undefined) chownSync(folder, asNobody.uid, asNobody.uid);
  const bouncer: ChildProcess = spawn(PROGRAM, [configuration], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    ...asNobody,
  });
  const endWithThis = () => void bouncer.kill('SIGKILL');
  process.once('exit', endWithThis);
  if (bouncer.stderr === null) throw new Error('its log is not read');
  const log: string[] = [];
  let isUp = false;
  for await (const line of createInterface({ input: bouncer.stderr })) {
    log.push(line);
    isUp = line.includes('process up');
    if (isUp) break;
  }
  if (!isUp) throw new Error(`PgBouncer did not start: ${log.join('\n')}`);
  bouncer.stderr.resume();
  return {
    urlFor: (databaseUrl) =>
      `postgres://countersign@localhost:6432/${databaseOf(databaseUrl)}?host=${folder}`,
    async stop() {
      process.off('exit', endWithThis);
      const ended = once(bouncer, 'exit');
      bouncer.kill('SIGQUIT');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
