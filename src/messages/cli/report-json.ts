import { z } from 'zod';
import { ROLLOUT_LEVELS } from '../../domain/policy/rollout.ts';
import { RUN_ENDINGS } from '../../domain/run/ending.ts';
import type { RepositoryReport, Spread } from '../../domain/run/report.ts';

/** In seconds, within 5 %. */
const spreadSchema = z.strictObject({ count: z.int(), median: z.int(), p90: z.int() });

/** A line of the report, as the command line and the API say it. */
export const reportJsonSchema = z.strictObject({
  repository: z.string(),
  rollout: z.enum(ROLLOUT_LEVELS),
  /** What sets it; `null` if nothing lowers it. */
  rollout_by: z.enum(['organisation', 'server', 'unreadable']).nullable(),
  /** Of the default branch when it was last read. */
  configuration: z.strictObject({
    branch: z.string(),
    errors: z.int(),
    first: z
      .strictObject({ file: z.string(), line: z.int(), column: z.int(), message: z.string() })
      .nullable(),
  }),
  /** Runs that ended in the period. */
  runs: z.strictObject(Object.fromEntries(RUN_ENDINGS.map((ending) => [ending, z.int()]))),
  reviews_requesting_changes: z.int(),
  seconds_to_answer: spreadSchema.nullable(),
  seconds_to_merge: spreadSchema.nullable(),
  /** Questions that are open now; `null` if there are none. */
  waiting: z.strictObject({ count: z.int(), since: z.iso.datetime() }).nullable(),
});

export function reportJson(report: RepositoryReport): z.infer<typeof reportJsonSchema> {
  const { rollout, branch, errors, first, waiting } = report;
  return {
    repository: report.repository,
    rollout: rollout.level,
    rollout_by: rollout.by ?? null,
    configuration: { branch, errors, first },
    runs: { ...report.runs },
    reviews_requesting_changes: report.changesRequested,
    seconds_to_answer: spreadJson(report.answered),
    seconds_to_merge: spreadJson(report.merged),
    waiting: waiting ? { count: waiting.count, since: waiting.since.toISOString() } : null,
  };
}

function spreadJson(spread: Spread | undefined): z.infer<typeof spreadSchema> | null {
  if (spread === undefined) return null;
  const { count, median, p90 } = spread;
  return { count, median: Math.round(median), p90: Math.round(p90) };
}
