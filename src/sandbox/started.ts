import { readdirSync, readFileSync } from 'node:fs';

/**
 * The processes that a process started itself. Any of its threads may start one. https://man7.org/linux/man-pages/man5/proc_tid_children.5.html
 * @throws if it is gone, or there is no `/proc`
 */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
}

/**
 * Kills everything that a process started, whatever group it is in, and not the process itself. Those that have lost their parent
 * are not found.
 */
export function killStartedBy(pid: number): void {
  let children: number[] = [];
  try {
    children = childrenOf(pid);
  } catch {
    // It is gone, and nothing says what it started.
  }
  for (const child of children) {
    killStartedBy(child);
    try {
      process.kill(child, 'SIGKILL');
    } catch {
      // It is already gone.
    }
  }
}
