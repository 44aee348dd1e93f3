import { readFileSync } from 'node:fs';
import { childrenOf } from './started.ts';

/** The default on every Linux that Node supports. */
const PAGE_BYTES = 4_096;
const POLL_EVERY_MS = 100;

/**
 * Calls back once when the processes and everything that they started hold more than `maxMb` of memory together. That includes native
 * code and WebAssembly, which Node's own limits leave out. Without `/proc` it never calls back; the limits on heaps still apply then.
 * @param pids the processes at the time; those that could not be started have none
 * @returns a function that ends the watch.
 */
export function watchMemory(
  pids: () => readonly (number | undefined)[],
  maxMb: number,
  onTooMuch: () => void,
): () => void {
  const timer = setInterval(() => {
    if (pids().reduce((sum: number, pid) => sum + (pid ? residentMb(pid) : 0), 0) <= maxMb) return;
    clearInterval(timer);
    onTooMuch();
  }, POLL_EVERY_MS);
  return () => clearInterval(timer);
}

/** Of the process and everything that it started; processes that are gone count as 0. */
function residentMb(pid: number): number {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    return (
      (pages * PAGE_BYTES) / 1_000_000 + childrenOf(pid).reduce((sum, child) => sum + residentMb(child), 0)
    );
  } catch {
    return 0;
  }
}
