import { tmpdir } from 'node:os';
import { z } from 'zod';
import { variablesOfConnections } from '../../config/node-variables.ts';
import type { Log } from '../../core/log.ts';
import { COMPILE_CACHE, OWN_CODE, OWN_EXTENSION } from '../../core/package-root.ts';
import { LIMIT_MINUTES } from '../../messages/studio/chain-form.ts';
import type { DryRunEnd, DryRunFailure, DryRunPlayer } from '../../ports/dry-runs.ts';
import { watchMemory } from '../../sandbox/memory.ts';
import { type SandboxedProcess, startProcess } from '../../sandbox/process.ts';
import { behindLimits } from '../../sandbox/sandbox.ts';
import { killStartedBy } from '../../sandbox/started.ts';
import { removeAbandonedFolders } from '../../sandbox/temporary-folder.ts';
import type { DryRunOrder, FromDryRun } from './dry-run-messages.ts';

const MAIN = `${OWN_CODE}dry-run-process.${OWN_EXTENSION}`;
const HEAP_MB = 512;
/** Together with the analyzers, which may have 2,048 MB of it as in the app. */
const MEMORY_MB = 2_560;
/** A result has 500,000 characters of bodies, and each can take six as JSON. */
const MAX_LINE_BYTES = 8_000_000;
const MAX_OUTPUT_BYTES = 64_000_000;
/** For an end in order, before everything is killed. */
const GRACE_MS = 5_000;

/** The process runs the same code, so only a line that is no message is refused. */
const fromDryRun = z.custom<FromDryRun>(
  (line) => typeof line === 'object' && line !== null && 'kind' in line,
);

interface DryRunSettings {
  githubApiUrl: string;
  merging?: 'off';
}

/**
 * Plays each dry run in a process of its own: no page waits for it, its memory and time have limits, and it has no secret
 * of the app. Rejected: a thread, whose folders and child processes nobody could tell from those of the app when it is stopped.
 * @param limitMs how long a dry run may take
 */
export function dryRunProcesses(
  { githubApiUrl, merging }: DryRunSettings,
  { log, limitMs = LIMIT_MINUTES * 60_000 }: { log: Log; limitMs?: number },
): DryRunPlayer {
  const settings = {
    GITHUB_API_URL: githubApiUrl,
    ...(merging === 'off' && { COUNTERSIGN_MERGING: 'off' }),
  };

  return {
    async play(asked, token, { signal, onSteps }) {
      let end: DryRunEnd | undefined;
      let because: DryRunFailure | undefined;
      const [command = '', ...args] = [
        ...behindLimits({ diesFirst: true }),
        process.execPath,
        `--max-old-space-size=${HEAP_MB}`,
        '--disable-warning=ExperimentalWarning',
        MAIN,
      ];
      const child = startProcess<never, FromDryRun>(
        {
          command,
          args,
          env: { ...variablesOfConnections(), TMPDIR: tmpdir(), NODE_COMPILE_CACHE: COMPILE_CACHE },
          stderr: 'tail',
          limits: { outputBytes: MAX_OUTPUT_BYTES, lineBytes: MAX_LINE_BYTES },
        },
        {
          schema: fromDryRun,
          onMessage(message) {
            if (message.kind === 'steps') onSteps(message.steps);
            else if (message.kind === 'ended') end = message.end;
            else log.warn({ chain: asked.chain, detail: message.detail }, 'a dry run in Studio failed');
          },
        },
      );
      const stopping = stopsIn(child, (why) => {
        because ??= why;
      });
      const timer = setTimeout(() => stopping.gently('timed_out'), limitMs);
      const onAbort = () => stopping.gently('stopped');
      signal.addEventListener('abort', onAbort, { once: true });
      const endWatch = watchMemory(
        () => [child.pid],
        MEMORY_MB,
        () => stopping.atOnce('too_much_memory'),
      );
      const order: DryRunOrder = { asked, token, settings };
      child.writeLine(JSON.stringify(order));
      if (signal.aborted) onAbort();
      const ending = await child.ended;
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      endWatch();
      stopping.over();
      if (end === undefined) {
        // It removed nothing of what it left.
        await removeAbandonedFolders();
        log.warn({ chain: asked.chain, ending }, 'the process of a dry run ended without a result');
      }
      return because === undefined || end?.kind === 'done'
        ? (end ?? { kind: 'failed', because: 'broken' })
        : { kind: 'failed', because };
    },
  };
}

/** How a process is stopped: it is asked first, and then killed with everything that it started. */
function stopsIn(child: SandboxedProcess, note: (because: DryRunFailure) => void) {
  let timer: NodeJS.Timeout | undefined;
  const atOnce = (because: DryRunFailure) => {
    note(because);
    if (child.pid !== undefined) killStartedBy(child.pid);
    child.stop();
  };
  return {
    atOnce,
    gently(because: DryRunFailure) {
      note(because);
      child.writeLine('stop');
      timer ??= setTimeout(() => atOnce(because), GRACE_MS);
    },
    over: () => clearTimeout(timer),
  };
}
