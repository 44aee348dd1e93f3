import { z } from 'zod';
import { parseDuration } from '../core/duration.ts';
import { optionalText, refuse } from './fields.ts';

const RETENTION_KINDS = ['bodies', 'runs', 'artifacts', 'traces'] as const;
type RetentionKind = (typeof RETENTION_KINDS)[number];
/** In milliseconds; `null`: forever. */
export type Retention = Record<RetentionKind, number | null>;

const DAY_MS = 86_400_000;
/**
 * A quarter of a year: long enough to investigate problems of the last release, without becoming an archive.
 */
const DEFAULT_MS = 90 * DAY_MS;
/** GitHub redelivers for three days. The record of a delivery and of its results must be kept much longer. */
const LEAST_MS: Readonly<Record<RetentionKind, number>> = {
  bodies: DAY_MS,
  runs: 7 * DAY_MS,
  artifacts: DAY_MS,
  traces: DAY_MS,
};

const EXAMPLES = 'such as 90d, off or bodies:14d,runs:90d,artifacts:90d,traces:30d';

/** `90d` for all kinds, `off`, or a period per kind. A kind that is not named has the default. */
const retention = optionalText.transform((value, ctx): Retention => {
  const all = (ms: number | null) =>
    Object.fromEntries(RETENTION_KINDS.map((kind) => [kind, ms])) as Retention;
  if (value === undefined) return all(DEFAULT_MS);
  if (!value.includes(':')) {
    const ms = periodOf(value);
    if (ms === undefined) return refuse(ctx, `must be a length of time or off, ${EXAMPLES}`);
    const least = Math.max(...Object.values(LEAST_MS));
    return ms !== null && ms < least
      ? refuse(ctx, `must be ${days(least)} or more for all kinds together, as runs need that`)
      : all(ms);
  }
  const given: Partial<Retention> = {};
  for (const part of value.split(',').map((piece) => piece.trim())) {
    const [name, text = '', ...more] = part.split(':').map((piece) => piece.trim());
    const kind = RETENTION_KINDS.find((known) => known === name);
    if (!kind)
      return refuse(
        ctx,
        `must name only ${RETENTION_KINDS.join(', ')}, each with its length of time, ${EXAMPLES}`,
      );
    const ms = more.length === 0 ? periodOf(text) : undefined;
    if (ms === undefined) return refuse(ctx, `must give ${kind} a length of time or off, ${EXAMPLES}`);
    if (kind in given) return refuse(ctx, `must name ${kind} once`);
    if (ms !== null && ms < LEAST_MS[kind])
      return refuse(ctx, `must keep ${kind} for ${days(LEAST_MS[kind])} or more`);
    given[kind] = ms;
  }
  return { ...all(DEFAULT_MS), ...given };
});

export const retentionSchema = z
  .object({ RETENTION: retention })
  .transform((env) => ({ retention: env.RETENTION }));

function periodOf(text: string): number | null | undefined {
  return text === 'off' ? null : parseDuration(text);
}

function days(ms: number): string {
  return `${ms / DAY_MS}d`;
}
