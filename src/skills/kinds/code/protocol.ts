import { z } from 'zod';
import type { Json } from '../../../core/canonical.ts';

export const LANGUAGES = { js: 'javascript', py: 'python' } as const;
export type Language = (typeof LANGUAGES)[keyof typeof LANGUAGES];

const path = z.string().min(1).max(4_096);
const prompt = z.string().min(1);

/** The questions that a template may ask, with their arguments. */
export const HOST_FUNCTIONS = {
  search: z.tuple([z.string().min(1).max(1_000)]),
  get_file: z.tuple([path]),
  get_files: z.tuple([z.array(path).max(100)]),
  get_diff: z.tuple([]),
  get_history: z.tuple([path]),
  llm_query: z.tuple([prompt]),
  llm_query_batched: z.tuple([z.array(prompt).min(1).max(32)]),
  checkpoint: z.tuple([z.json()]),
} as const;
export type HostFunction = keyof typeof HOST_FUNCTIONS;
export type Arguments<Name extends HostFunction> = z.infer<(typeof HOST_FUNCTIONS)[Name]>;

export const hostFunctionSchema = z.enum(Object.keys(HOST_FUNCTIONS) as [HostFunction, ...HostFunction[]]);

/** What the process is told: one line of JSON on its standard input. */
export interface Start {
  language: Language;
  /** Addresses of the interpreter's modules. */
  modules: readonly string[];
  source: string;
  /** The artifact's path in its package, which stands in its errors. */
  name: string;
  input: Json;
  /** When JavaScript ends itself; the process is killed a little later. */
  timeoutMs: number;
  /** How large the loaded Python is that comes on file descriptor 3; 0: none comes. */
  snapshotBytes: number;
}

/**
 * What the process says: a line of JSON each, on its standard output. A template that got out of its interpreter can write these
 * lines too, so they give it nothing that it had not before: the budgets are kept on this side.
 */
export const messageSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('call'),
    /** 1, 2, 3 …: a question is asked after the one before was answered. */
    id: z.int().positive(),
    function: z.string().max(50),
    arguments: z.array(z.json()).max(4),
  }),
  z.strictObject({ kind: z.literal('log'), text: z.string() }),
  /** Nothing that follows counts. */
  z.strictObject({ kind: z.literal('submit'), value: z.json() }),
  z.strictObject({
    kind: z.literal('end'),
    how: z.enum(['returned', 'threw', 'timed_out', 'out_of_memory']),
    /** One line, for people. */
    message: z.string().max(2_000),
    /** Where in the template it was; `null`: nobody can tell. */
    at: z.strictObject({ line: z.int().positive(), column: z.int().positive().nullable() }).nullable(),
    /** How it came there, for the log. */
    details: z.string().max(20_000),
  }),
]);
export type Message = z.infer<typeof messageSchema>;

/** The answer to a question, one line on its standard input. A refusal becomes an error in the template. */
export type Reply = { id: number; answer: Json } | { id: number; refused: string };
