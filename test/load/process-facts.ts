import { readdirSync, readFileSync } from 'node:fs';

/** The most memory that a process has held so far, in MB: `VmHWM`, the kernel's own maximum of resident memory. */
export function peakMemoryMb(pid: number): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  if (kilobytes === undefined) throw new Error(`the kernel does not say how much memory process ${pid} held`);
  return Math.round(Number(kilobytes) / 1_024);
}

/** The pids of all processes that run analyzers, or wait for a review, as a child of `parent`. */
export function reviewWorkersOf(parent: number): number[] {
  return processes().filter((pid) => {
    const found = read(pid);
    return found?.command.includes('analyzers/worker/main.') === true && found.parent === parent;
  });
}

export function isAlive(pid: number): boolean {
  const found = read(pid);
  return found !== undefined && found.state !== 'Z';
}

function processes(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** `undefined` if the process does not exist, or ended while it was being read. */
function read(pid: number): { command: string; state: string; parent: number } | undefined {
  try {
    const [state = '', parent = ''] =
      readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return { command: readFileSync(`/proc/${pid}/cmdline`, 'utf8'), state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}
