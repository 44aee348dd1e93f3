import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

/** The process that holds a lease. */
export interface Owner {
  host: string;
  pid: number;
  /** When the process started, in ms since 1970: tells two processes apart that had the same pid. */
  start: number;
}

export function thisProcess(): Owner {
  return { host: hostname(), pid: process.pid, start: Math.round(performance.timeOrigin) };
}

/** A token for the leases of one claim; never the same twice, so that it fences off whoever held the job before. */
export function leaseToken(owner: Owner): string {
  return `${owner.host}:${owner.pid}:${owner.start}:${randomUUID()}`;
}

/**
 * Whether the process behind a lease is certainly gone: of this host, and its pid is nobody's or has become our own.
 * In doubt, as with another host or a pid that someone else has now, the lease is left to end by itself.
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
    // Any other error, such as EPERM, is about a process that exists.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
