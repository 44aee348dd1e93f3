import { z } from 'zod';
import type { Json } from '../../../core/canonical.ts';

export const LANGUAGES = { js: 'javascript', py: 'python' } as const;
export type Language = (typeof LANGUAGES)[keyof typeof LANGUAGES];

const path = z.string().min(1).max(4_096);
const prompt = z.string().min(1);
const values = z.record(z.string(), z.json());

/** The functions that a program can call, with their arguments. */
export const HOST_FUNCTIONS = {
  search: z.tuple([z.string().min(1).max(1_000)]),
  get_file: z.tuple([path]),
  get_files: z.tuple([z.array(path).max(100)]),
  get_diff: z.tuple([]),
  get_history: z.tuple([path]),
  llm_query: z.tuple([prompt]),
  llm_query_batched: z.tuple([z.array(prompt).min(1).max(32)]),
  checkpoint: z.tuple([z.json()]),
  get_ci_files: z.tuple([z.string().min(1).max(200)]),
  render_prompt: z.tuple([path, values]),
  run_skill: z.tuple([path, values]),
  write_artifact: z.tuple([path, z.string().min(1)]),
} as const;
export type HostFunction = keyof typeof HOST_FUNCTIONS;
export type Arguments<Name extends HostFunction> = z.infer<(typeof HOST_FUNCTIONS)[Name]>;

export const hostFunctionSchema = z.enum(Object.keys(HOST_FUNCTIONS) as [HostFunction, ...HostFunction[]]);

/** The message to the process: one line of JSON on its standard input. */
export interface Start {
  language: Language;
  /** URLs of the interpreter's modules. */
  modules: readonly string[];
  source: string;
  /** The artifact's path in its package, for error messages. */
  name: string;
  input: Json;
  /** When JavaScript stops itself. The process is killed a little later. */
  timeoutMs: number;
  /** The size of the Python snapshot on file descriptor 3; 0 if there is none. */
  snapshotBytes: number;
}

/**
 * Messages from the process: one line of JSON each, on its standard output. A program that escapes its
 * interpreter can write them too, but gains nothing: the app keeps the budgets.
 */
export const messageSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('call'),
    /** 1, 2, 3 …: each call follows the answer to the previous one. */
    id: z.int().positive(),
    function: z.string().max(50),
    arguments: z.array(z.json()).max(4),
  }),
  z.strictObject({ kind: z.literal('log'), text: z.string() }),
  /** Messages after it are ignored. */
  z.strictObject({ kind: z.literal('submit'), value: z.json() }),
  z.strictObject({
    kind: z.literal('end'),
    how: z.enum(['returned', 'threw', 'timed_out', 'out_of_memory']),
    /** One line, for people. */
    message: z.string().max(2_000),
    /** The position in the program; `null` if unknown. */
    at: z.strictObject({ line: z.int().positive(), column: z.int().positive().nullable() }).nullable(),
    /** The stack trace, for the log. */
    details: z.string().max(20_000),
  }),
]);
export type Message = z.infer<typeof messageSchema>;

/** The answer to a call: one line on its standard input. A refusal becomes an exception in the program. */
export type Reply = { id: number; answer: Json } | { id: number; refused: string };
