import { fileURLToPath } from 'node:url';
import { OWN_EXTENSION, PACKAGE_ROOT } from '../../../core/package-root.ts';
import { type Command, commandOf } from '../../../sandbox/node-program.ts';

const WORKER = new URL('./worker/', import.meta.url);
const HEAP_MB = 256;

export interface ProcessBounds {
  /**
   * Each WebAssembly memory. QuickJS has a limit of its own, which does not help here: in WebAssembly it counts allocations, but not
   * their size.
   */
  memoryMb: number;
  cpuSeconds: number;
  /** Files and folders that it may read besides its own. */
  readable: readonly string[];
}

/**
 * The command for one execution. The process may read its own few files and the interpreter, and nothing else: it cannot write, start
 * processes or threads, load native code or create code from strings. If the machine allows it, it has no network and sees no other
 * process.
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
