import { systemTimers, type Timers } from '../../src/core/clock.ts';
import type { Shell, ShellEnd } from '../../src/ports/shell.ts';
import type { Harness } from './harness.ts';

/** A command that prints and ends when a test says so, instead of a sandbox. */
export function printingShell(): {
  shell: Shell;
  /** Resolves when the command of a step has begun. */
  begun(): Promise<void>;
  print(text: string): void;
  end(code?: number): void;
} {
  let started = Promise.withResolvers<void>();
  let ended = Promise.withResolvers<ShellEnd>();
  let print = (_: string) => {};
  let log = '';
  return {
    shell: {
      unusable: async () => undefined,
      run({ onOutput, signal }) {
        log = '';
        ended = Promise.withResolvers();
        print = (text) => {
          log += text;
          onOutput(Buffer.from(text));
        };
        signal.addEventListener('abort', () => ended.reject(signal.reason));
        started.resolve();
        return ended.promise;
      },
    },
    begun: () => started.promise,
    print: (text) => print(text),
    end(code = 0) {
      started = Promise.withResolvers();
      ended.resolve({ kind: 'exited', code, files: [], log });
    },
  };
}

/** Timers of a test: what is planned for later comes when the test says that the time has passed. */
export function plannedTimers(): Timers & { pass(ms: number): void } {
  let elapsed = 0;
  const planned = new Set<{ at: number; work(): void }>();
  return {
    elapsedMs: () => elapsed,
    sleep: systemTimers.sleep,
    after(ms, work) {
      const one = { at: elapsed + ms, work };
      planned.add(one);
      return () => void planned.delete(one);
    },
    pass(ms) {
      elapsed += ms;
      for (const one of [...planned].filter(({ at }) => at <= elapsed)) {
        planned.delete(one);
        one.work();
      }
    },
  };
}

/** Changes the run while its step works. */
export async function pause({ app }: Pick<Harness, 'app'>, runId: string): Promise<void> {
  await app.storage.transaction(async (tx) => {
    const state = await tx.runs.load(runId);
    if (state) await tx.runs.save({ ...state, run: { ...state.run, paused: true } }, { kind: 'app' });
  });
}
