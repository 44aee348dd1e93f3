import { availableParallelism, getPriority, setPriority } from 'node:os';

/**
 * The engine and its child processes give way to the intake: with all cores busy, the intake gets nearly all of
 * the one that it needs (a weight of 1,024 against 15 in the Linux scheduler). Other services are not
 * affected: containers and systemd units have a share of their own, within which this counts. On a single core,
 * the engine must not wait for long behind a burst: steps have time limits, and an open gate check a lease.
 */
export const ENGINE_NICENESS = availableParallelism() > 1 ? 19 : 10;

/** Gives the calling thread at least this niceness, on Linux. Threads and processes that it starts later inherit it. */
export function giveWay(niceness: number): void {
  // Elsewhere than on Linux, the whole process has one niceness: setpriority(2), "C library/kernel differences".
  // An operator may have given the process a higher one, which only root may lower.
  if (process.platform === 'linux') setPriority(Math.max(niceness, getPriority()));
}
