import { behindLimits, sandbox } from './sandbox.ts';

/** A program that Node runs behind everything that this machine allows, with Node's own permissions besides. */
export interface NodeProgram {
  /** The file that Node runs. */
  main: string;
  /** Files and folders that it may read. It reads no others. */
  readable: readonly string[];
  /** Folders that it may write to. */
  writable?: readonly string[];
  /** What else Node allows it. */
  allow?: readonly ('addons' | 'child-process' | 'worker')[];
  /** Node's options that take something from JavaScript. */
  deny?: readonly ('code-from-strings' | 'proto')[];
  /**
   * A folder in its working folder from which Node takes compiled code, and sources without their types. The
   * permission to write there is Node's condition.
   */
  compileCache?: string | undefined;
  heapMb: number;
  /** Each WebAssembly memory. */
  wasmMb?: number;
  /**
   * Processor time. It also ends a process that loops on after the app died. With it, the environment is empty
   * to the last variable: the shell that sets the limits leaves `PWD` behind.
   */
  cpuSeconds?: number;
  /** Hides all other processes from it, so it can signal none. Only for a program that starts none itself. */
  alone?: boolean;
}

export interface Command {
  command: string;
  args: readonly string[];
  /** `cut`: it has no network, not even to this machine itself. */
  network: 'cut' | 'open';
}

const DENIED = {
  'code-from-strings': '--disallow-code-generation-from-strings',
  proto: '--disable-proto=delete',
} as const;
/** WebAssembly's pages have 64 KB. */
const PAGES_IN_MB = 16;

/** The command that runs a program, with its `main` as the last argument. */
export async function commandOf(program: NodeProgram): Promise<Command> {
  const {
    main,
    readable,
    writable = [],
    allow = [],
    deny = [],
    compileCache,
    heapMb,
    wasmMb,
    cpuSeconds,
  } = program;
  const { network, launcher, alone } = await sandbox();
  const [command = '', ...args] = [
    ...launcher,
    ...(program.alone ? alone : []),
    ...(cpuSeconds === undefined ? [] : [...behindLimits({ cpuSeconds }), 'env', '-i']),
    process.execPath,
    '--permission',
    ...allow.map((name) => `--allow-${name}`),
    ...readable.map((path) => `--allow-fs-read=${path}`),
    ...writable.map((path) => `--allow-fs-write=${path}`),
    ...deny.map((name) => DENIED[name]),
    `--max-old-space-size=${heapMb}`,
    ...(wasmMb === undefined ? [] : [`--wasm-max-mem-pages=${wasmMb * PAGES_IN_MB}`]),
    '--disable-warning=ExperimentalWarning',
    ...(compileCache === undefined ? [] : [`--import=${enabling(compileCache)}`]),
    main,
  ];
  return { command, args, network };
}

/** Before any file is loaded. As a variable of the environment, every program would see it. */
function enabling(compileCache: string): string {
  const script = `import { enableCompileCache } from 'node:module'; enableCompileCache('${compileCache}');`;
  return `data:text/javascript,${encodeURIComponent(script)}`;
}
