import type { LeftFile } from '../domain/artifact/left-files.ts';
import type { Run } from '../domain/run/run.ts';

/** Runs the commands of chains, in a sandbox. */
export interface Shell {
  /** Why no command can run on this server, as a clause; `undefined` if commands can. */
  unusable(): Promise<string | undefined>;
  /**
   * Runs a command once, on a copy of the files of the run's head.
   * @throws the signal's reason if aborted; every process is dead by then
   */
  run(task: ShellTask): Promise<ShellEnd>;
}

export interface ShellTask {
  run: Pick<Run, 'installationId' | 'repositoryId' | 'repository' | 'headSha'>;
  /** For `sh -c`. */
  command: string;
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** Globs of the files to leave. */
  artifacts: readonly string[];
  /** Called with what it writes, as it comes; not redacted. */
  onOutput(part: Uint8Array): void;
  signal: AbortSignal;
}

/** `log` is everything that it wrote, and has not been redacted. */
export type ShellEnd = { log: string } & (
  | { kind: 'exited'; code: number; files: readonly LeftFile[] }
  /** Nothing was run, because this is a dry run. */
  | { kind: 'not_run' }
  /** `because` is a clause. `retryable`: another attempt may differ. */
  | { kind: 'failed'; because: string; retryable: boolean }
);
