import { spawn } from 'node:child_process';

/** What keeps a process of ours in on this machine, besides its empty environment and Node's own permissions. */
export interface Sandbox {
  /** `cut`: it has no network, not even to this machine itself. */
  network: 'cut' | 'open';
  /** Put in front of its command. */
  launcher: readonly string[];
  /** Put behind the launcher for a process that starts none itself: it sees no other, so it can signal none. Empty where not allowed. */
  alone: readonly string[];
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
 * Process ids of its own. The process dies as number 1 of its namespace, so nothing that it started can outlive it. The user
 * namespace is what makes it possible for anybody but root.
 */
const ALONE = ['unshare', '--user', '--map-current-user', '--pid', '--fork', '--kill-child'] as const;

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
    if (await works(cut)) return { network: 'cut', launcher: [...cut, ...limit], alone: await alone(cut) };
  }
  return { network: 'open', launcher: limit, alone: await alone([]) };
}

/** Namespaces inside of others are not allowed everywhere where one is. */
async function alone(outer: readonly string[]): Promise<readonly string[]> {
  return (await works([...outer, ...ALONE])) ? ALONE : [];
}

/** Only ends what hangs: a machine that is merely busy must not pass for one that allows nothing. */
const PROBE_MS = 60_000;

/** Whether Node starts behind the prefix. */
function works([command = '', ...args]: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, [...args, process.execPath, '--version'], {
      env: {},
      stdio: 'ignore',
      timeout: PROBE_MS,
      killSignal: 'SIGKILL',
    });
    child.on('error', () => resolve(false));
    child.on('exit', (code) => resolve(code === 0));
  });
}
