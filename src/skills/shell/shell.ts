import { chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CountersignError } from '../../core/errors.ts';
import { NO_SANDBOX, SHELL_OFF, shellFault } from '../../messages/skills/shell.ts';
import type { GitAccess } from '../../ports/github.ts';
import type { Shell, ShellEnd, ShellTask } from '../../ports/shell.ts';
import { type ProcessSpec, runProcess } from '../../sandbox/process.ts';
import { ANSWER_FILE } from '../kinds/agent/command.ts';
import { sentIn, withScratch } from '../kinds/agent/run-agent.ts';
import {
  commandInside,
  INSIDE,
  isRoot,
  isSandboxAvailable,
  NOBODY,
  PROGRAMS,
} from '../kinds/agent/sandbox.ts';
import { HeadTooLarge, writeHead } from '../kinds/agent/worktree.ts';

/** In the sandbox's own memory, which limits its size together with everything else there. */
const COPY = `${INSIDE.home}/work`;

/**
 * The exit code goes to a file: one of the sandbox itself would look the same. The file has its space before the command runs,
 * which may leave none.
 */
const SCRIPT = `echo none > ${ANSWER_FILE}
mkdir -p ${COPY} && cp -R ${INSIDE.work}/. ${COPY} && cd ${COPY} || exit 1
sh -c "$1" sh < /dev/null
echo $? 1<> ${ANSWER_FILE}
`;

const LIMITS = { memoryMb: 2_048, outputBytes: 16_000_000 };

export interface ShellDeps {
  /** The operator has turned it on. */
  allowed: boolean;
  /** @throws GitHubError if there is no token */
  gitAccess(run: ShellTask['run']): Promise<GitAccess>;
  head?: typeof writeHead;
  sandboxAvailable?: typeof isSandboxAvailable;
}

/**
 * Runs commands in the sandbox of agents: an otherwise empty root with the system's programs, no network, no secrets, and
 * the head's files. It fails closed: without the sandbox, nothing runs.
 */
export function createShell(deps: ShellDeps): Shell {
  const { allowed, gitAccess, head = writeHead, sandboxAvailable = isSandboxAvailable } = deps;

  async function run(folder: string, task: ShellTask): Promise<ShellEnd> {
    const { command, env, timeoutMs, artifacts, signal } = task;
    const [root, work] = [join(folder, 'root'), join(folder, 'work')];
    await mkdir(root);
    await mkdir(work);
    const access = await gitAccess(task.run);
    let leftOut: string[];
    try {
      leftOut = await head(work, task.run.headSha, access, { signal });
    } catch (error) {
      if (error instanceof HeadTooLarge)
        return {
          kind: 'failed',
          because: `the head is too large: ${error.message}`,
          retryable: false,
          log: '',
        };
      if (error instanceof CountersignError)
        return { kind: 'failed', because: error.message, retryable: true, log: '' };
      throw error;
    }
    if (isRoot()) for (const path of [folder, root]) await chown(path, NOBODY, NOBODY);
    const inside = commandInside({
      root,
      readable: [[work, INSIDE.work]],
      cpuSeconds: timeoutMs / 1_000,
    });
    const orders = {
      command: '/bin/sh',
      args: ['-c', SCRIPT, 'sh', command],
      env: {
        PATH: PROGRAMS.PATH,
        HOME: INSIDE.home,
        LC_ALL: 'C.UTF-8',
        CI: 'true',
        ...env,
      },
      cwd: INSIDE.home,
      prompt: '',
      answerFile: ANSWER_FILE,
      artifacts: COPY,
      globs: artifacts,
    };
    const spec: ProcessSpec = {
      ...inside,
      env: PROGRAMS,
      input: JSON.stringify(orders),
      stderr: 'keep',
      descriptor3: 'pipe',
      limits: { wallMs: timeoutMs, ...LIMITS },
      signal,
    };
    const { failure, output } = await runProcess(spec, task.onOutput);
    const written = output(1, 2).toString();
    const { answer, files, refused } = sentIn(output(3).toString());
    const missing = leftOut.length === 0 ? [] : [`Files of the head that are missing: ${leftOut.join(', ')}`];
    const log = [written, ...missing, ...refused].join('\n');
    if (failure) return { kind: 'failed', because: shellFault(failure), retryable: false, log };
    const [, code] = /^(\d{1,3})\n/.exec(answer) ?? [];
    if (code === undefined)
      return {
        kind: 'failed',
        because: shellFault({ kind: 'died', detail: 'no exit code' }),
        retryable: false,
        log,
      };
    return { kind: 'exited', code: Number(code), files, log };
  }

  return {
    async unusable() {
      if (!allowed) return SHELL_OFF;
      return (await sandboxAvailable()) ? undefined : NO_SANDBOX;
    },
    run: (task) => withScratch((folder) => run(folder, task)),
  };
}
