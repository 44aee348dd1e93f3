import { fileURLToPath } from 'node:url';
import { sandbox } from '../../sandbox/sandbox.ts';

/** `ts` when run from the sources, `js` after the build. */
const OWN_EXTENSION = import.meta.url.slice(-2);
const WORKER = new URL('./worker/', import.meta.url);
const HEAP_MB = 256;
/** Of 64 KB: 256 MB for each WebAssembly memory, in which both interpreters keep everything of a template. */
const WASM_PAGES = 4_096;

export interface Command {
  command: string;
  args: readonly string[];
  network: 'cut' | 'open';
}

/**
 * How the process of one execution is started. It may read its own few files and the interpreter, and do nothing else: no writing, no processes,
 * no threads, no native code, no code from strings; no network, no other processes to be seen, as far as the machine allows.
 * @param cpuSeconds also ends one that loops on after the app died, which nobody is left to kill.
 * @param readable files and folders that it may read besides
 */
export async function commandFor(
  entry: 'main' | 'make-snapshot',
  cpuSeconds: number,
  readable: readonly string[],
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
    `--wasm-max-mem-pages=${WASM_PAGES}`,
    `--max-old-space-size=${HEAP_MB}`,
    fileURLToPath(new URL(`${entry}.${OWN_EXTENSION}`, WORKER)),
  ];
  return { command, args, network };
}

/** Its own folder, and the file that says that our files are modules. */
function ownFiles(): string[] {
  return [WORKER, new URL('../../../package.json', import.meta.url)].map((url) => fileURLToPath(url));
}
