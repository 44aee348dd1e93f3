import { spawn } from 'node:child_process';
import { messageOf } from '../../../core/errors.ts';
import { redact } from '../../../core/redact/redact.ts';
import { killGroup } from '../../../sandbox/kill-group.ts';
import { PROGRAMS } from './walls.ts';

/** What no repository and nobody's configuration may change. */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.symlinks=false',
  'core.attributesFile=/dev/null',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  // One file for all objects, so that the limit on a file's size is one on all of them.
  'fetch.unpackLimit=1',
  'gc.auto=0',
  'maintenance.auto=false',
  'credential.helper=',
  'http.followRedirects=false',
  'protocol.allow=never',
];

export interface GitBounds {
  folder: string;
  /** The only file of settings that is read. */
  config: string;
  /** Which of git's protocols may be used; none for what needs no network. */
  protocol?: 'https' | 'http';
  input?: string;
  maxOutputBytes: number;
  timeoutMs: number;
  signal: AbortSignal;
}

/** Of a file that git writes, in blocks of 512 bytes: 256 MB. */
const FILE_BLOCKS = 524_288;

/**
 * Runs git with nothing of this machine's or anybody's settings, and gives back what it writes.
 * @throws Error with git's last words when it fails; the signal's reason when aborted.
 */
export function git(args: readonly string[], bounds: GitBounds): Promise<Buffer> {
  const { folder, config, protocol, input = '', maxOutputBytes, timeoutMs, signal } = bounds;
  const settings = [...SETTINGS, ...(protocol ? [`protocol.${protocol}.allow=always`] : [])];
  const command = ['git', ...settings.flatMap((setting) => ['-c', setting]), ...args];
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', `ulimit -c 0; ulimit -f ${FILE_BLOCKS}; exec "$@"`, 'sh', ...command], {
      cwd: folder,
      env: {
        ...PROGRAMS,
        HOME: folder,
        LC_ALL: 'C',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: config,
        GIT_ATTR_NOSYSTEM: '1',
        GIT_TERMINAL_PROMPT: '0',
        GIT_LFS_SKIP_SMUDGE: '1',
      },
      // A group of its own, so that one signal reaches git and the programs that it starts.
      detached: true,
    });
    const kill = () => killGroup(child.pid);
    let because: string | undefined;
    const stop = (why: string) => {
      because ??= why;
      kill();
    };
    const timer = setTimeout(() => stop(`it took longer than ${timeoutMs / 1_000} s`), timeoutMs);
    signal.addEventListener('abort', kill, { once: true });
    const parts: Buffer[] = [];
    let bytes = 0;
    let words = '';
    child.stdout.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > maxOutputBytes) stop(`it wrote more than ${maxOutputBytes} bytes`);
      else parts.push(part);
    });
    child.stderr.on('data', (part: Buffer) => {
      words = (words + part.toString('utf8')).slice(-1_000);
    });
    child.on('error', (error) => stop(messageOf(error)));
    child.on('close', (code) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', kill);
      if (signal.aborted) return reject(signal.reason);
      if (because === undefined && code === 0) return resolve(Buffer.concat(parts));
      reject(new Error(because ?? redact(words.trim().split('\n').at(-1) ?? `exit code ${code}`)));
    });
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    if (signal.aborted) kill();
  });
}
