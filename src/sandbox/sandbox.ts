import { runProcess } from './process.ts';

/** What this machine offers to isolate a process, besides an empty environment and Node's own permissions. */
export interface Sandbox {
  /** `cut`: a sandboxed process has no network, not even to this machine itself. */
  network: 'cut' | 'open';
  /** Put in front of its command. */
  launcher: readonly string[];
  /** Follows the launcher for a process that starts none itself: it sees no other process, so it can signal none. Empty if not allowed. */
  alone: readonly string[];
}

/**
 * A network namespace of its own, with nothing in it. The first choice is inside a user namespace, which anybody but root needs anyway.
 * It has a second use: the process cannot read the app's environment in `/proc`, although both run as the same user. Inside,
 * the user stays the same too: one that is mapped to root would have all capabilities.
 */
const CUT = [
  ['unshare', '--user', '--map-current-user', '--net'],
  ['unshare', '--net'],
] as const;

/**
 * A process namespace of its own. The process is number 1 in it, so everything that it started dies with it. Anybody but root needs
 * the user namespace for that.
 */
const ALONE = ['unshare', '--user', '--map-current-user', '--pid', '--fork', '--kill-child'] as const;

/** Limits that a shell sets before it becomes the command behind it. */
export interface ShellLimits {
  /** The largest file that it may write. */
  fileBytes?: number;
  /** Processor time. */
  cpuSeconds?: number;
  /** When the machine runs out of memory, this process goes and not the app. */
  diesFirst?: boolean;
}

/**
 * Put in front of a command: sets the limits, and forbids core files, which would hold what was in memory. `ulimit -d` or `-v`
 * cannot bound its memory: Node and WebAssembly reserve gigabytes that they never use. `memory.ts` does that.
 */
export function behindLimits({ fileBytes, cpuSeconds, diesFirst }: ShellLimits): string[] {
  const steps = [
    'ulimit -c 0',
    ...(fileBytes === undefined ? [] : [`ulimit -f ${fileBytes / BLOCK_BYTES}`]),
    ...(cpuSeconds === undefined ? [] : [`ulimit -t ${Math.ceil(cpuSeconds)}`]),
    ...(diesFirst ? ['(echo 1000 > /proc/$$/oom_score_adj) 2>/dev/null'] : []),
    'exec "$@"',
  ];
  return ['sh', '-c', steps.join('; '), 'sh'];
}

const BLOCK_BYTES = 512;

/** 64 MB for a file: the copies for oxlint have 1 MB at most. */
const LIMIT = behindLimits({ fileBytes: 131_072 * BLOCK_BYTES, diesFirst: true });

let found: Promise<Sandbox> | undefined;

/** Tries once what this machine allows. Never rejects: containers often allow no namespaces. */
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

/** Some machines allow a namespace, but none inside it. */
async function alone(outer: readonly string[]): Promise<readonly string[]> {
  return (await works([...outer, ...ALONE])) ? ALONE : [];
}

/** Only ends what hangs: a busy machine must not count as one that allows nothing. */
const PROBE_MS = 60_000;

/** Whether Node starts behind the prefix. */
async function works([command = '', ...args]: readonly string[]): Promise<boolean> {
  const { failure } = await runProcess({
    command,
    args: [...args, process.execPath, '--version'],
    limits: { wallMs: PROBE_MS },
  });
  return !failure;
}
