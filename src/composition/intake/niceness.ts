import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

/**
 * The engine and its child processes give way to the intake: with all cores busy, the intake gets nearly all of
 * the one that it needs (a weight of 1,024 against 15 in the Linux scheduler). Other services are not
 * affected: containers and systemd units have a share of their own, within which this counts. On a single core,
 * the engine must not wait for long behind a burst: steps have time limits, and an open gate check a lease.
 */
export const ENGINE_NICENESS = availableParallelism() > 1 ? 19 : 10;

/** https://man7.org/linux/man-pages/man5/proc_pid_task.5.html */
const THREADS = '/proc/self/task';

/**
 * Gives the calling thread and V8's helpers at least this niceness, on Linux. Threads and processes that the calling
 * thread starts later inherit it.
 *
 * The helpers collect garbage for all threads, mostly for the engine. At the niceness of the intake, they took more than half as
 * much processor time as it. They no longer help to collect young objects, which is brief: the intake would wait for
 * a helper that gets no processor.
 */
export function giveWay(niceness: number): void {
  // Elsewhere than on Linux, the whole process has one niceness: setpriority(2), "C library/kernel differences".
  if (process.platform !== 'linux') return;
  // An operator may have given the process a higher one, which only root may lower.
  const least = Math.max(niceness, getPriority());
  setPriority(least);
  for (const id of readdirSync(THREADS)) if (nameOf(id) === 'V8Worker') setPriority(Number(id), least);
  setFlagsFromString('--no-parallel-scavenge');
}

/** `undefined` if the thread has ended. */
function nameOf(thread: string): string | undefined {
  try {
    return readFileSync(join(THREADS, thread, 'comm'), 'utf8').trim();
  } catch {
    return undefined;
  }
}
