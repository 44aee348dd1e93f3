import { openSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProcess } from '../../../sandbox/process.ts';
import { temporaryFolder } from '../../../sandbox/temporary-folder.ts';
import { interpreter } from './interpreter.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { commandFor } from './process.ts';

/** The memory of a loaded Python. Processes start from it four times as fast as from files. */
export interface Snapshot {
  /** Open for reading. The file is already deleted, so that nothing remains and nobody can change it. */
  fd: number;
  bytes: number;
}

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 128_000_000;

let made: Promise<Snapshot | undefined> | undefined;

/**
 * Made once per process of the app, when Python is first needed, in a process with the same sandbox as
 * programs. That process never sees a program.
 * @returns `undefined` if that fails here; Python then starts from its files. Never rejects.
 */
export function pythonSnapshot(): Promise<Snapshot | undefined> {
  made ??= make().catch(() => undefined);
  return made;
}

async function make(): Promise<Snapshot> {
  const { modules, folders } = interpreter('python');
  const command = await commandFor('make-snapshot', {
    memoryMb: DEFAULT_LIMITS.memoryMb.python,
    cpuSeconds: TIMEOUT_MS / 1_000,
    readable: folders,
  });
  const { failure, output } = await runProcess({
    ...command,
    input: `${JSON.stringify(modules)}\n`,
    limits: { wallMs: TIMEOUT_MS, outputBytes: MAX_BYTES },
  });
  const content = output(1);
  if (failure || content.length === 0) throw new Error(failure?.kind ?? 'it is empty');
  const folder = await temporaryFolder('python');
  try {
    const path = join(folder, 'snapshot');
    await writeFile(path, content, { mode: 0o400 });
    // A file descriptor, not a `FileHandle`, which would be closed by garbage collection.
    return { fd: openSync(path, 'r'), bytes: content.length };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
