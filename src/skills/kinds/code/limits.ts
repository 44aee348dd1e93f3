import type { HostFunction, Language } from './protocol.ts';

/** What one host function may be used for in one execution. */
export interface Budget {
  calls: number;
  /** Of all its questions and answers together, as JSON. */
  bytes: number;
  /** How long its answers may be waited for, all together. */
  ms: number;
}

export interface CodeLimits {
  /** From the start of the process to the result, waiting for answers included. */
  timeoutMs: number;
  /** What the interpreter's memory may grow to, in which everything of a template is. Python needs 30 MB for itself. */
  memoryMb: Readonly<Record<Language, number>>;
  /** What the whole process may take. */
  processMb: number;
  /** Of everything that it prints. */
  logBytes: number;
  /** Of the submitted value, as JSON. */
  resultBytes: number;
  budgets: Readonly<Record<HostFunction, Budget>>;
}

const KB = 1_000;
const MB = 1_000_000;

/** Generous for a template that reads the pull request it is about, far too little for one that reads everything. */
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
  },
};
