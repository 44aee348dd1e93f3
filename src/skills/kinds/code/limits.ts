import type { HostFunction, Language } from './protocol.ts';

/** The limit on one host function in one execution. */
export interface Budget {
  calls: number;
  /** All its calls and answers together, as JSON. */
  bytes: number;
  /** The total time of its answers. */
  ms: number;
}

export interface CodeLimits {
  /** From the start of the process to the result, including waits for answers. */
  timeoutMs: number;
  /** The limit on the interpreter's memory, which contains the whole program. Python itself needs 30 MB. */
  memoryMb: Readonly<Record<Language, number>>;
  /** The limit on the whole process. */
  processMb: number;
  /** For everything that it prints. */
  logBytes: number;
  /** For the submitted value, as JSON. */
  resultBytes: number;
  budgets: Readonly<Record<HostFunction, Budget>>;
}

const KB = 1_000;
const MB = 1_000_000;

/** Generous for a program that reads its pull request, and far too little for one that reads everything. */
export const DEFAULT_LIMITS: CodeLimits = {
  timeoutMs: 60_000,
  memoryMb: { javascript: 64, python: 256 },
  processMb: 768,
  logBytes: 100 * KB,
  resultBytes: MB,
  budgets: {
    search: { calls: 50, bytes: 2 * MB, ms: 20_000 },
    get_file: { calls: 200, bytes: 8 * MB, ms: 30_000 },
    get_files: { calls: 20, bytes: 8 * MB, ms: 30_000 },
    get_diff: { calls: 5, bytes: 8 * MB, ms: 20_000 },
    get_history: { calls: 50, bytes: MB, ms: 20_000 },
    llm_query: { calls: 20, bytes: 2 * MB, ms: 50_000 },
    llm_query_batched: { calls: 5, bytes: 4 * MB, ms: 50_000 },
    checkpoint: { calls: 20, bytes: 4 * MB, ms: 10_000 },
    get_ci_files: { calls: 10, bytes: 8 * MB, ms: 30_000 },
    render_prompt: { calls: 20, bytes: 4 * MB, ms: 20_000 },
    run_skill: { calls: 5, bytes: 2 * MB, ms: 50_000 },
    write_artifact: { calls: 40, bytes: 8 * MB, ms: 10_000 },
  },
};
