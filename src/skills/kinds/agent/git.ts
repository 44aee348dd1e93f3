import { redact } from '../../../core/redact/redact.ts';
import { runProcess } from '../../../sandbox/process.ts';
import { behindLimits } from '../../../sandbox/sandbox.ts';
import { PROGRAMS } from './sandbox.ts';

/** Settings that neither a repository nor any configuration may change. */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.symlinks=false',
  'core.attributesFile=/dev/null',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  // All objects in one file, so that the limit on a file's size limits them together.
  'fetch.unpackLimit=1',
  'gc.auto=0',
  'maintenance.auto=false',
  'credential.helper=',
  'http.followRedirects=false',
  'protocol.allow=never',
];

export interface GitBounds {
  folder: string;
  /** The only settings file that git reads. */
  config: string;
  /** The protocol that git may use; none for commands without network. */
  protocol?: 'https' | 'http';
  input?: string;
  maxOutputBytes: number;
  timeoutMs: number;
  signal: AbortSignal;
}

/** The largest file that git may write, in bytes. */
const FILE_BYTES = 256 * 1_024 * 1_024;

/**
 * Runs git without any settings of this machine or its users.
 * @returns its standard output
 * @throws Error with the end of git's error output, or the signal's reason if aborted
 */
export async function git(args: readonly string[], bounds: GitBounds): Promise<Buffer> {
  const { folder, config, protocol, input = '', maxOutputBytes, timeoutMs, signal } = bounds;
  const settings = [...SETTINGS, ...(protocol ? [`protocol.${protocol}.allow=always`] : [])];
  const [command = '', ...before] = [...behindLimits({ fileBytes: FILE_BYTES }), 'git'];
  const { failure, output } = await runProcess({
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
  if (!failure) return output(1);
  switch (failure.kind) {
    case 'timed_out':
      throw new Error(`it took longer than ${timeoutMs / 1_000} s`);
    case 'too_much_output':
      throw new Error(`it wrote more than ${maxOutputBytes} bytes`);
    case 'died':
      throw new Error(redact(output(2).toString().trim().split('\n').at(-1) || failure.detail));
    default:
      throw new Error('detail' in failure ? failure.detail : failure.kind);
  }
}
