import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';

/** A process and all its descendants, but for those that end meanwhile. Any thread may have started them. */
export function processesOf(pid: number): number[] {
  const children = whileThere(() => readdirSync(`/proc/${pid}/task`), []).flatMap((thread) =>
    whileThere(() => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'), '')
      .split(' ')
      .filter(Boolean),
  );
  return [pid, ...children.flatMap((child) => processesOf(Number(child)))];
}

/** With a NUL after each argument; empty if the process has ended. */
export const commandOf = (pid: number) => whileThere(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'), '');

/** Processes can end between two looks at them. */
function whileThere<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return otherwise;
    throw error;
  }
}

/** How often each text is in the memory that a process can write to, in the encodings of its strings. */
export function findInProcess(pid: number, texts: readonly string[]): number[] {
  const counts = texts.map(() => 0);
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
      const [, from = '', to = ''] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
      if (from === '') continue;
      const region = regionOf(memory, Number.parseInt(from, 16), Number.parseInt(to, 16));
      for (const [index, text] of texts.entries()) {
        const found = region.includes(text, 0, 'latin1') || region.includes(text, 0, 'utf16le');
        if (found) counts[index] = (counts[index] ?? 0) + 1;
      }
    }
  } finally {
    closeSync(memory);
  }
  return counts;
}

/** Memory that is only reserved reads as an error, and holds nothing. */
function regionOf(memory: number, from: number, to: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.min(to - from, 256_000_000));
  try {
    return bytes.subarray(0, readSync(memory, bytes, 0, bytes.length, from));
  } catch {
    return Buffer.alloc(0);
  }
}
