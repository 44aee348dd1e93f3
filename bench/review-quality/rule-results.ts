import { z } from 'zod';
import { linesOf } from './clean-code.ts';
import { type CorpusCase, HALVES, halfOf } from './corpus-case.ts';
import type { EngineResult } from './report.ts';
import { alarmsOf, findsOf } from './score.ts';

const half = z.strictObject({
  /** Weaknesses that the rule names near their place. */
  finds: z.int().min(0),
  /** Corrected versions and harmless lookalikes that it has something to say about. */
  alarms: z.int().min(0),
});

/** What each rule did in one run of the bench, as `rule-results.json` keeps it for docs/review-rules.md. */
export const ruleResultsSchema = z.strictObject({
  /** How many cases there were. */
  weaknesses: z.strictObject({ tuning: z.int(), control: z.int() }),
  cleanLines: z.int(),
  rules: z.record(z.string(), z.strictObject({ tuning: half, control: half, remarks: z.int().min(0) })),
});
export type RuleResults = z.infer<typeof ruleResultsSchema>;

export function ruleResultsOf(cases: readonly CorpusCase[], own: EngineResult): RuleResults {
  const rules: RuleResults['rules'] = {};
  const resultOf = (rule: string) => {
    const known = rules[rule] ?? {
      tuning: { finds: 0, alarms: 0 },
      control: { finds: 0, alarms: 0 },
      remarks: 0,
    };
    rules[rule] = known;
    return known;
  };
  for (const one of cases) {
    const which = halfOf(one);
    for (const rule of new Set(findsOf(one, own.weak).map((found) => found.rule)))
      resultOf(rule)[which].finds++;
    for (const rule of new Set(alarmsOf(one, own.fixed).map((found) => found.rule)))
      resultOf(rule)[which].alarms++;
  }
  for (const { rule } of own.remarks) resultOf(rule).remarks++;
  const weak = cases.filter((one) => one.weak);
  const [tuning, control] = HALVES.map((name) => weak.filter((one) => halfOf(one) === name).length);
  return {
    weaknesses: { tuning: tuning ?? 0, control: control ?? 0 },
    cleanLines: linesOf(own.clean),
    rules: Object.fromEntries(Object.entries(rules).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}
