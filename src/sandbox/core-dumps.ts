import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** `unknown` where there is no `/proc` to read it from. */
export type CoreDumps = 'forbidden' | 'allowed' | 'unknown';

/**
 * Forbids the kernel to write the app's memory to a file when the app crashes, because that holds the keys. Node has no call for it, so
 * `prlimit` sets the limit from outside. Rejected: starting the app again behind `ulimit -c 0`, because supervisors watch the process
 * that they started.
 */
export function forbidCoreDumps(): CoreDumps {
  if (coreDumps() !== 'allowed') return coreDumps();
  spawnSync('prlimit', [`--pid=${process.pid}`, '--core=0:0'], { stdio: 'ignore', timeout: 30_000 });
  return coreDumps();
}

function coreDumps(): CoreDumps {
  try {
    return coreDumpsIn(readFileSync('/proc/self/limits', 'utf8'));
  } catch {
    return 'unknown';
  }
}

/** What a text of `/proc/self/limits` says: the soft limit is the one that holds. */
export function coreDumpsIn(limits: string): CoreDumps {
  const [, soft] = /^Max core file size\s+(\d+|unlimited)/m.exec(limits) ?? [];
  if (soft === undefined) return 'unknown';
  return soft === '0' ? 'forbidden' : 'allowed';
}
