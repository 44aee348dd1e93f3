import { fileURLToPath } from 'node:url';
import { OWN_EXTENSION, PACKAGE_ROOT } from '../../../core/package-root.ts';
import { type Command, commandOf } from '../../../sandbox/node-program.ts';

const WORKER = new URL('./worker/', import.meta.url);
const HEAP_MB = 256;

export interface ProcessBounds {
  /**
   * Of each WebAssembly memory. QuickJS has a limit of its own, which is of no use here: built for WebAssembly it counts allocations, and
   * not how large they are.
   */
  memoryMb: number;
  cpuSeconds: number;
  /** Files and folders that it may read besides its own. */
  readable: readonly string[];
}

/**
 * How the process of one execution is started. It may read its own few files and the interpreter, and do nothing else: no writing,
 * no processes, no threads, no native code, no code from strings; no network, no other processes to be seen, as far as the
 * machine allows.
 */
export function commandFor(
  entry: 'main' | 'make-snapshot',
  { memoryMb, cpuSeconds, readable }: ProcessBounds,
): Promise<Command> {
  return commandOf({
    main: fileURLToPath(new URL(`${entry}.${OWN_EXTENSION}`, WORKER)),
    // Its own folder, and the file that says that our files are modules.
    readable: [fileURLToPath(WORKER), `${PACKAGE_ROOT}package.json`, ...readable],
    deny: ['code-from-strings', 'proto'],
    heapMb: HEAP_MB,
    wasmMb: memoryMb,
    cpuSeconds,
    alone: true,
  });
}
