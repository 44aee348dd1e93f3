import { unreachable } from '../../../core/errors.ts';
import { redact } from '../../../core/redact/redact.ts';
import { type Ending, runProcess } from '../../../sandbox/process.ts';
import { behindLimits } from '../../../sandbox/sandbox.ts';
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

/** Of a file that git writes. */
const FILE_BYTES = 256 * 1_024 * 1_024;

/**
 * Runs git with nothing of this machine's or anybody's settings, and gives back what it writes.
 * @throws Error with git's last words when it fails; the signal's reason when aborted.
 */
export async function git(args: readonly string[], bounds: GitBounds): Promise<Buffer> {
  const { folder, config, protocol, input = '', maxOutputBytes, timeoutMs, signal } = bounds;
  const settings = [...SETTINGS, ...(protocol ? [`protocol.${protocol}.allow=always`] : [])];
  const [command = '', ...before] = [...behindLimits({ fileBytes: FILE_BYTES }), 'git'];
  const { ending, output } = await runProcess({
    command,
    args: [...before, ...settings.flatMap((setting) => ['-c', setting]), ...args],
    folder,
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
    input,
    stderr: 'tail',
    limits: { wallMs: timeoutMs, outputBytes: maxOutputBytes },
    signal,
  });
  if (ending.kind === 'exited' && ending.code === 0) return output(1);
  throw new Error(whyItFailed(ending, output(2).toString()));
}

function whyItFailed(ending: Ending, words: string): string {
  switch (ending.kind) {
    case 'timed_out':
      return `it took longer than ${ending.ms / 1_000} s`;
    case 'too_much_output':
      return `it wrote more than ${ending.limit} bytes`;
    case 'too_much_memory':
      return `it took more than ${ending.mb} MB of memory`;
    case 'not_started':
      return ending.detail;
    case 'exited':
      return redact(words.trim().split('\n').at(-1) || ending.detail);
    case 'stopped':
      return ending.because;
    default:
      return unreachable(ending);
  }
}
