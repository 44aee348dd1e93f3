import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** What keeps the analyzers' process in on this machine, besides its empty environment and its folder. */
export interface Sandbox {
  /** `cut`: it has no network, not even to this machine itself. */
  network: 'cut' | 'open';
  /** Put in front of its command. */
  launcher: readonly string[];
}

/**
 * A network namespace of its own, with nothing in it. The user namespace around it (first choice, and for anybody but root the
 * only way) has a second use: from inside, the app's environment in `/proc` cannot be read, although the user is the same. The
 * own user is kept in there, since one mapped to root would have all capabilities.
 */
const CUT = [
  ['unshare', '--user', '--map-current-user', '--net'],
  ['unshare', '--net'],
] as const;

/** The largest file that may be written, in blocks of 512 bytes (64 MB): the copies for oxlint have 1 MB at most. */
const FILE_BLOCKS = 131_072;

/**
 * No core files, since they would hold what the files say; and when the machine runs out of memory, this process goes and not
 * the app. `ulimit -d` or `-v` cannot bound its memory: Node and WebAssembly set aside gigabytes that they never use.
 * `memory.ts` does that.
 */
const LIMIT = [
  'sh',
  '-c',
  `ulimit -c 0; ulimit -f ${FILE_BLOCKS}; (echo 1000 > /proc/$$/oom_score_adj) 2>/dev/null; exec "$@"`,
  'sh',
] as const;

let found: Promise<Sandbox> | undefined;

/** Tries, once a process, what this machine allows. Never rejects: containers often allow no namespaces. */
export function sandbox(): Promise<Sandbox> {
  found ??= probe();
  return found;
}

async function probe(): Promise<Sandbox> {
  const limit = (await works(LIMIT)) ? LIMIT : [];
  for (const cut of CUT) {
    if (await works(cut)) return { network: 'cut', launcher: [...cut, ...limit] };
  }
  return { network: 'open', launcher: limit };
}

/** Whether Node starts behind the prefix. */
function works([command, ...args]: readonly [string, ...string[]]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, [...args, process.execPath, '--version'], {
      env: {},
      stdio: 'ignore',
      timeout: 5_000,
      killSignal: 'SIGKILL',
    });
    child.on('error', () => resolve(false));
    child.on('exit', (code) => resolve(code === 0));
  });
}

/**
 * Node's own permissions for the process and all it starts: it reads our code and packages, the modules and one folder, and
 * writes to that folder. Not a wall by itself, since native code is beyond it; but JavaScript that got loaded
 * against all plans stands before it. The package's root is left out: people keep `.env` and the database there.
 */
export function permissions(folder: string, modules: readonly string[]): string[] {
  const root = new URL('../../../', import.meta.url);
  const ours = [
    new URL('../../', import.meta.url),
    new URL('package.json', root),
    new URL('node_modules', root),
  ];
  const readable = new Set([...ours.map((url) => fileURLToPath(url)), packageFolder(), ...modules, folder]);
  return [
    '--permission',
    '--allow-addons',
    '--allow-child-process',
    '--allow-worker',
    ...[...readable].map((path) => `--allow-fs-read=${path}`),
    `--allow-fs-write=${folder}`,
  ];
}

/** The outermost `node_modules` that our dependencies lie in, links followed: not always the one beside us. */
function packageFolder(): string {
  const entry = realpathSync(createRequire(import.meta.url).resolve('oxlint/package.json'));
  return /^.*?[\\/]node_modules(?=[\\/])/.exec(entry)?.[0] ?? entry;
}
