import { z } from 'zod';
import { plainLine } from '../../domain/run/explain.ts';
import { CHECK_NAMES, type Finding } from '../../domain/self-check/finding.ts';
import { FINDING_STATUSES, type FindingStatus, wordsOf } from '../self-check/self-check.ts';
import { plural } from '../text/pretty.ts';

const MARKS: Readonly<Record<FindingStatus, string>> = { ok: '✓', warning: '!', error: '✗', unknown: '?' };

/** The JSON of `doctor`. Scripts rely on it. */
export const doctorJsonSchema = z.strictObject({
  ok: z.boolean(),
  findings: z.array(
    z.strictObject({
      check: z.enum(CHECK_NAMES),
      status: z.enum(FINDING_STATUSES),
      code: z.string(),
      summary: z.string(),
      todo: z.string().nullable(),
    }),
  ),
});

/** One line for each finding, what to do below it, and a sentence at the end. */
export function doctorText(findings: readonly Finding[]): string {
  const all = findings.map((finding) => ({ check: finding.check, ...wordsOf(finding) }));
  const width = Math.max(...all.map(({ check }) => check.length));
  const lines = all.flatMap(({ check, status, summary, todo }) => [
    `${MARKS[status]} ${check.padEnd(width)}  ${plainLine(summary)}`,
    ...(todo === undefined ? [] : [`${' '.repeat(width + 4)}${plainLine(todo)}`]),
  ]);
  const count = (wanted: FindingStatus) => all.filter(({ status }) => status === wanted).length;
  return [...lines, '', summed(count('error'), count('warning'), count('unknown'))].join('\n');
}

function summed(errors: number, warnings: number, unknown: number): string {
  const parts = [
    ...(errors > 0 ? [plural(errors, 'error')] : []),
    ...(warnings > 0 ? [plural(warnings, 'warning')] : []),
    ...(unknown > 0 ? [`${unknown} not known`] : []),
  ];
  return parts.length === 0 ? 'Everything is as it should be.' : `${parts.join(', ')}.`;
}

export function doctorJson(findings: readonly Finding[]): z.infer<typeof doctorJsonSchema> {
  const all = findings.map((finding) => {
    const { status, summary, todo } = wordsOf(finding);
    return {
      check: finding.check,
      status,
      code: `${finding.check}.${finding.kind}`,
      summary,
      todo: todo ?? null,
    };
  });
  return { ok: all.every(({ status }) => status !== 'error'), findings: all };
}
