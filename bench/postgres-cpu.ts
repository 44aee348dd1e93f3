import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PostgresServer } from '../test/support/postgres.ts';

/** Processor time of a server of PostgreSQL, alone and with that of this process, in milliseconds since any time. */
export function ownedBy({ folder }: Pick<PostgresServer, 'folder'>): {
  serverMs(): number;
  totalMs(): number;
} {
  const [postmaster = ''] = readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n');
  /** Of each process that was ever seen, because those of connections end. */
  const seen = new Map<string, number>();
  const serverMs = () => {
    for (const pid of childrenOf(postmaster)) {
      const ns = nanosecondsOf(pid);
      if (ns !== undefined) seen.set(pid, ns);
    }
    return [...seen.values()].reduce((sum, ns) => sum + ns, 0) / 1e6;
  };
  return {
    serverMs,
    totalMs() {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000 + serverMs();
    },
  };
}

/** The processes of the server's connections, and its helpers. */
function childrenOf(parent: string): string[] {
  const listed = execFileSync('ps', ['-o', 'pid=', '--ppid', parent], { encoding: 'utf8' });
  return listed
    .split('\n')
    .map((line) => line.trim())
    .filter((pid) => pid !== '');
}

function nanosecondsOf(pid: string): number | undefined {
  try {
    return readdirSync(`/proc/${pid}/task`).reduce(
      (sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]),
      0,
    );
  } catch {
    // It has ended.
    return undefined;
  }
}
