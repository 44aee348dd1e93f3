import { fileURLToPath } from 'node:url';
import { OWN_EXTENSION, PACKAGE_ROOT } from '../../../core/package-root.ts';
import { sandbox } from '../../../sandbox/sandbox.ts';

const WORKER = new URL('./worker/', import.meta.url);
const HEAP_MB = 256;
/** WebAssembly's pages have 64 KB. */
const PAGES_IN_MB = 16;

export interface ProcessBounds {
  /**
   * Of each WebAssembly memory. QuickJS has a limit of its own, which is of no use here: built for WebAssembly it counts allocations, and
   * not how large they are.
   */
  memoryMb: number;
  /** Also ends one that loops on after the app died, which nobody is left to kill. */
  cpuSeconds: number;
  /** Files and folders that it may read besides its own. */
  readable: readonly string[];
}

export interface Command {
  command: string;
  args: readonly string[];
  network: 'cut' | 'open';
}

/**
 * How the process of one execution is started. It may read its own few files and the interpreter, and do nothing else: no writing,
 * no processes, no threads, no native code, no code from strings; no network, no other processes to be seen, as far as the
 * machine allows.
 */
export async function commandFor(
  entry: 'main' | 'make-snapshot',
  { memoryMb, cpuSeconds, readable }: ProcessBounds,
): Promise<Command> {
  const { network, launcher, alone } = await sandbox();
  const [command = '', ...args] = [
    ...launcher,
    ...alone,
    'sh',
    '-c',
    `ulimit -t ${Math.ceil(cpuSeconds)}; exec env -i "$@"`,
    'sh',
    process.execPath,
    '--permission',
    ...[...ownFiles(), ...readable].map((path) => `--allow-fs-read=${path}`),
    '--disallow-code-generation-from-strings',
    '--disable-proto=delete',
    '--disable-warning=ExperimentalWarning',
    `--wasm-max-mem-pages=${memoryMb * PAGES_IN_MB}`,
    `--max-old-space-size=${HEAP_MB}`,
    fileURLToPath(new URL(`${entry}.${OWN_EXTENSION}`, WORKER)),
  ];
  return { command, args, network };
}

/** Its own folder, and the file that says that our files are modules. */
function ownFiles(): string[] {
  return [fileURLToPath(WORKER), `${PACKAGE_ROOT}package.json`];
}
