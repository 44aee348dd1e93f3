import { chownSync, existsSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { OWN_EXTENSION } from '../../../core/package-root.ts';
import { runProcess } from '../../../sandbox/process.ts';
import { temporaryFolder } from '../../../sandbox/temporary-folder.ts';

/** The files in the sandbox: paths inside, and their sources on this machine. */
export interface Inside {
  /** An empty folder of this machine that becomes the root. */
  root: string;
  /** Readable folders and files: the path outside, and the path inside. */
  readable: readonly (readonly [outside: string, inside: string])[];
  cpuSeconds: number;
}

export const INSIDE = {
  work: '/work',
  home: '/home/agent',
  artifacts: '/artifacts',
  socket: '/inside/proxy.sock',
  schema: '/inside/schema.json',
  node: '/usr/local/bin/node',
} as const;

const MAIN = fileURLToPath(new URL(`./inside/main.${OWN_EXTENSION}`, import.meta.url));
/** The extension marks it as a module, because no package.json is beside it inside. */
const MAIN_INSIDE = `/inside/main.m${OWN_EXTENSION}`;

/**
 * The system's programs and libraries. Without `/usr/src` and `/usr/local`, where people keep files of their
 * own.
 */
const SYSTEM = [
  'bin',
  'sbin',
  'lib',
  'lib32',
  'lib64',
  'usr/bin',
  'usr/sbin',
  'usr/lib',
  'usr/lib32',
  'usr/lib64',
  'usr/libexec',
  'usr/share',
];

const NAMESPACES = [
  'unshare',
  '--user',
  '--map-root-user',
  '--mount',
  '--net',
  '--ipc',
  '--uts',
  '--pid',
  '--fork',
  '--kill-child',
];

/**
 * Processes and threads together. Small processes take so little memory that its limit does not stop a fork bomb. Since Linux 5.14, the
 * kernel counts those of the namespace, and before that all of the user: https://lkml.kernel.org/r/c5286a8aa16d2d698c222f7532f3d735c82bc6bc.1619094428.git.legion@kernel.org
 */
const MAX_PROCESSES = 2_048;

/**
 * Builds the root for the agent from memory and read-only folders, and enters it permanently. Root in this
 * user namespace has no rights outside. The script drops all capabilities before the agent starts.
 *
 * Arguments: the root, the seconds of CPU, the number of path pairs, the pairs, then the command.
 */
const SCRIPT = `set -eu
root=$1; cpu=$2; pairs=$3; shift 3
mount -t tmpfs -o size=512m,nr_inodes=100000,mode=755,nosuid,nodev tmpfs "$root"
show() {
  if [ -d "$1" ]; then mkdir -p "$root$2"; else mkdir -p "$root$(dirname "$2")"; : > "$root$2"; fi
  mount --bind "$1" "$root$2"
  mount -o remount,bind,ro,nosuid,nodev "$root$2"
}
for dir in ${SYSTEM.join(' ')}; do
  [ -e "/$dir" ] || continue
  if [ -L "/$dir" ]; then mkdir -p "$root/$(dirname "$dir")"; ln -s "$(readlink "/$dir")" "$root/$dir"; else show "/$dir" "/$dir"; fi
done
while [ "$pairs" -gt 0 ]; do show "$1" "$2"; shift 2; pairs=$((pairs - 1)); done
mkdir -p "$root/proc" "$root/dev" "$root/tmp" "$root${INSIDE.home}" "$root${INSIDE.artifacts}" "$root/etc" "$root/old"
for device in null zero full random urandom; do : > "$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"; mount -o remount,bind,ro,nosuid "$root/dev/$device"; done
ln -s /proc/self/fd "$root/dev/fd"
echo 'agent:x:0:0:agent:${INSIDE.home}:/bin/sh' > "$root/etc/passwd"
echo '127.0.0.1 localhost' > "$root/etc/hosts"
mount -t proc -o nosuid,nodev,noexec,subset=pid proc "$root/proc"
mount -o remount,bind,ro,nosuid,nodev,noexec "$root/proc"
ip link set lo up 2>/dev/null || perl -e 'socket(S,2,2,0) or die; my $r=pack("a16 s x14","lo",0x49); ioctl(S,0x8914,$r) or die'
ulimit -c 0; ulimit -t "$cpu"
cd "$root"
pivot_root . old
umount -l /old
rmdir /old
cd ${INSIDE.work}
exec prlimit --nproc=${MAX_PROCESSES} setpriv --bounding-set=-all --inh-caps=-all --no-new-privs env -i "$@"
`;

/**
 * The user of the agent if the app runs as root. Even without capabilities, root may write where the file's
 * owner may, for example in `/proc/sys`.
 */
export const NOBODY = 65_534;
const AS_NOBODY = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
/** If the app dies, the kernel kills the agent, because nothing else would. */
const DIE_WITH_APP = ['setpriv', '--pdeathsig=KILL'];

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** The command that runs Node inside, with the program that starts the agent. */
export function commandInside(
  { root, readable, cpuSeconds }: Inside,
  run = MAIN_INSIDE,
): { command: string; args: string[] } {
  const pairs = [...readable, [realpathSync(process.execPath), INSIDE.node], [MAIN, MAIN_INSIDE]] as const;
  const [command = '', ...rest] = [...DIE_WITH_APP, ...(isRoot() ? AS_NOBODY : []), ...NAMESPACES];
  const args = [
    ...rest,
    'sh',
    '-c',
    SCRIPT,
    'sh',
    root,
    String(Math.ceil(cpuSeconds)),
    String(pairs.length),
    ...pairs.flat(),
    INSIDE.node,
    '--disable-warning=ExperimentalWarning',
    run,
  ];
  return { command, args };
}

/**
 * The files of a program: for a program installed by npm its whole `node_modules`, for any other only its own
 * file, because its folder can hold anything.
 */
export function filesOfProgram(path: string): string {
  const real = realpathSync(path);
  return /^.*?\/node_modules(?=\/)/.exec(real)?.[0] ?? real;
}

let tried: Promise<boolean> | undefined;

/**
 * Whether this machine permits the sandbox, tried once per process. Never rejects: containers often forbid
 * namespaces.
 */
export function isSandboxAvailable(): Promise<boolean> {
  tried ??= tryOut().catch(() => false);
  return tried;
}

async function tryOut(): Promise<boolean> {
  if (process.platform !== 'linux' || !existsSync('/proc')) return false;
  const root = await temporaryFolder('agent');
  try {
    if (isRoot()) chownSync(root, NOBODY, NOBODY);
    const { command, args } = commandInside(
      { root, readable: [[root, INSIDE.work]], cpuSeconds: 10 },
      '--version',
    );
    // Only ends a hang. A busy machine must not look like one without namespaces.
    const limits = { wallMs: 60_000 };
    const { failure } = await runProcess({ command, args: [...args, '--version'], env: PROGRAMS, limits });
    return !failure;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** The environment in which the sandbox is built. The agent's own has only what it is given. */
export const PROGRAMS = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };
