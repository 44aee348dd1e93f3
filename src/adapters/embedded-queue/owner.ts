import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

/** The process that holds a lease. */
export interface Owner {
  host: string;
  pid: number;
  /** When the process started, in ms since 1970. Distinguishes two processes that had the same pid. */
  start: number;
}

export function thisProcess(): Owner {
  return { host: hostname(), pid: process.pid, start: Math.round(performance.timeOrigin) };
}

/** A token for the leases of one claim. It is unique, so it fences off any earlier holder of the job. */
export function leaseToken(owner: Owner): string {
  return `${owner.host}:${owner.pid}:${owner.start}:${randomUUID()}`;
}

/** Whether this process took the lease. */
export function isOfProcess(token: string, { host, pid, start }: Owner): boolean {
  return token.startsWith(`${host}:${pid}:${start}:`);
}

/**
 * Whether the process behind a lease is certainly dead: it ran on this host, and its pid is unused or now our
 * own. In doubt, for example with another host or a pid that is in use again, the lease expires by itself.
 */
export function isOfDeadProcess(
  token: string,
  self: Owner,
  isRunning: (pid: number) => boolean = isPidRunning,
): boolean {
  const match = /^(.*):(\d+):(\d+):[^:]+$/.exec(token);
  if (!match || match[1] !== self.host) return false;
  const pid = Number(match[2]);
  return pid === self.pid ? Number(match[3]) !== self.start : !isRunning(pid);
}

function isPidRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Any other error, such as EPERM, means that the process exists.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
