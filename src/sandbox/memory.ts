import { readdirSync, readFileSync } from 'node:fs';

/** Pages of memory are this large on every Linux that Node runs on by default. */
const PAGE_BYTES = 4_096;
const POLL_EVERY_MS = 100;

/**
 * Calls back, once, when the process and all it started hold more than `maxMb` of memory:
 * native code and WebAssembly included, which Node's own limits leave out. Where there is no `/proc` it
 * never does; the limits on the heaps still hold there.
 * @returns ends the watch.
 */
export function watchMemory(pid: number, maxMb: number, onTooMuch: () => void): () => void {
  const timer = setInterval(() => {
    if (residentMb(pid) <= maxMb) return;
    clearInterval(timer);
    onTooMuch();
  }, POLL_EVERY_MS);
  return () => clearInterval(timer);
}

/** What is in memory of the process and of all that it started; those that are gone hold nothing. */
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

/** Any thread may start a process. */
function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
}
