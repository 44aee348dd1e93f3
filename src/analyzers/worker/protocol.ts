import { z } from 'zod';
import type { SourceFile } from '../analyzer.ts';

/** The work for one analyzer. */
export interface Job {
  analyzer: string;
  /** `file:` URL of the module with its `analyze`. */
  module: string;
  /** Indexes into the request's files. */
  files: number[];
  /** How much work it is. Only the relation to other jobs counts. */
  cost: number;
  config: unknown;
}

/** All work of a review, or a part of it. */
export interface WorkerRequest {
  files: SourceFile[];
  jobs: Job[];
}

/** What the app tells the worker process: lines of JSON on its standard input, which stays open. */
export type ToWorker =
  /** Loads modules before there is work for them. */
  | { kind: 'load'; modules: string[] }
  /** Keeps the compiled code of what is loaded, for other processes, and ends. */
  | { kind: 'keep' }
  /** Once only: the process is killed after the last result. */
  | ({ kind: 'review' } & WorkerRequest);

const line = z.int().min(1);

const rawFindingSchema = z.object({
  file: z.int().min(0),
  rule: z.string(),
  line,
  endLine: line.optional(),
  alsoAt: z.array(line).readonly().optional(),
  wholeFile: z.literal(true).optional(),
  message: z.string().optional(),
  edits: z
    .array(z.object({ line, column: line, endLine: line, endColumn: line, text: z.string() }))
    .readonly()
    .optional(),
});

/** The worker's answer: one line of JSON on descriptor 3 as each analyzer ends. */
export const jobResultSchema = z.discriminatedUnion('status', [
  z.object({
    analyzer: z.string(),
    status: z.literal('ok'),
    durationMs: z.number(),
    findings: z.array(rawFindingSchema),
    log: z.string(),
    secrets: z.array(z.string()).optional(),
  }),
  z.object({
    analyzer: z.string(),
    status: z.enum(['crashed', 'timed_out']),
    durationMs: z.number(),
    message: z.string(),
  }),
]);
export type JobResult = z.infer<typeof jobResultSchema>;
