import { z } from 'zod';
import { hashField, outcomeBase } from './base.ts';
import { safePathSchema, severitySchema } from './finding.ts';

/*
 * The outcomes whose members a skill states itself, beside its verdict or instead of one. What it states is
 * untrusted text, and no gate and no merge rests on more than `passed`.
 */

const line = z.string().min(1).max(500);
const text = z.string().min(1).max(2_000);
const lines = z.array(line).max(50);
const count = z.int().min(0);
const id = z.string().regex(/^[A-Za-z0-9_-]{1,50}$/, { error: 'an id has letters, digits, "-" and "_"' });
const file = safePathSchema.nullable();

/** What a linter, or a program that runs one, reports. */
const lintResultSchema = z.strictObject({
  outcome_kind: z.literal('lint_result'),
  ...outcomeBase,
  tool: line.describe('The linter, such as eslint 9.'),
  errors: count,
  warnings: count,
  messages: z
    .array(
      z.strictObject({
        file,
        line: z.int().min(1).nullable(),
        rule: line.nullable(),
        severity: z.enum(['error', 'warning']),
        message: text,
      }),
    )
    .max(200)
    .describe('The worst ones; errors and warnings count all.'),
  ...hashField,
});

/** What a test run reports. */
const testResultSchema = z.strictObject({
  outcome_kind: z.literal('test_result'),
  ...outcomeBase,
  total: count,
  failed: count,
  skipped: count,
  duration_ms: z.number().min(0).nullable(),
  coverage: z.number().min(0).max(100).nullable().describe('The lines that the tests ran, in percent.'),
  failures: z
    .array(z.strictObject({ name: line, message: text, file }))
    .max(100)
    .describe('Some of the failed tests; failed counts all.'),
  ...hashField,
});

/** What somebody found out about a question. */
const researchAnalysisSchema = z.strictObject({
  outcome_kind: z.literal('research_analysis'),
  ...outcomeBase,
  question: text,
  conclusions: z
    .array(z.strictObject({ statement: text, confidence: z.enum(['low', 'medium', 'high']), evidence: text }))
    .max(50),
  sources: z.array(z.strictObject({ title: line, url: text.nullable() })).max(50),
  open_questions: lines,
  ...hashField,
});

/** What a change affects. */
const impactReportSchema = z.strictObject({
  outcome_kind: z.literal('impact_report'),
  ...outcomeBase,
  risk: severitySchema,
  areas: z
    .array(
      z.strictObject({
        name: line,
        risk: severitySchema,
        description: text,
        files: z.array(safePathSchema).max(50),
      }),
    )
    .max(50),
  breaking_changes: lines,
  recommendations: lines,
  ...hashField,
});

const dependsOn = z.array(id).max(50).describe('Ids of others that come before.');

/** The steps in which a piece of work is to be done. */
const flowPlanSchema = z.strictObject({
  outcome_kind: z.literal('flow_plan'),
  ...outcomeBase,
  goal: text,
  steps: z
    .array(z.strictObject({ id, title: line, description: text, depends_on: dependsOn }))
    .min(1)
    .max(50),
  ...hashField,
});

/** Several pieces of work towards one aim, each with what it has to meet before the next begins. */
const showPlanSchema = z.strictObject({
  outcome_kind: z.literal('show_plan'),
  ...outcomeBase,
  topic: text,
  plays: z
    .array(z.strictObject({ id, intent: text, depends_on: dependsOn, acceptance_criteria: lines }))
    .min(1)
    .max(50),
  ...hashField,
});

/** Whether the chain goes on. With `should_continue: false`, no further step of the run begins. */
const flowControlVerdictSchema = z.strictObject({
  outcome_kind: z.literal('flow_control_verdict'),
  ...outcomeBase,
  should_continue: z.boolean(),
  reason: text,
  next_steps: lines.describe('What people could do next.'),
  ...hashField,
});

export const statedSchemas = [
  lintResultSchema,
  testResultSchema,
  researchAnalysisSchema,
  impactReportSchema,
  flowPlanSchema,
  showPlanSchema,
  flowControlVerdictSchema,
] as const;

export type StatedOutcome = z.infer<(typeof statedSchemas)[number]>;
export type StatedKind = StatedOutcome['outcome_kind'];
export const STATED_KINDS = statedSchemas.map(({ shape }) => shape.outcome_kind.value);

/** What a skill states of an outcome of this kind. */
export function statedMembers(kind: StatedKind): z.ZodObject {
  const schema = statedSchemas.find(({ shape }) => shape.outcome_kind.value === kind);
  if (!schema) throw new Error(`a skill cannot state an outcome of kind ${kind}`);
  const { outcome_kind, content_hash, ...members } = schema.shape;
  return z.strictObject(members);
}

/** Why the outcome is none, as a clause; `undefined` if it is consistent. */
export function contradictionInStated(outcome: StatedOutcome): string | undefined {
  switch (outcome.outcome_kind) {
    case 'lint_result':
      return outcome.passed === true && outcome.errors > 0
        ? `passed is true, and there are ${outcome.errors} errors`
        : undefined;
    case 'test_result': {
      const { passed, total, failed, skipped } = outcome;
      if (failed + skipped > total) return `more tests failed or were skipped than the ${total} in total`;
      return passed === true && failed > 0 ? `passed is true, and ${failed} tests failed` : undefined;
    }
    case 'flow_plan':
      return inPlan(outcome.steps);
    case 'show_plan':
      return inPlan(outcome.plays);
    case 'research_analysis':
    case 'impact_report':
    case 'flow_control_verdict':
      return undefined;
  }
}

/** An entry depends only on earlier ones, so that there is an order in which to do them. */
function inPlan(entries: readonly { id: string; depends_on: readonly string[] }[]): string | undefined {
  const seen = new Set<string>();
  for (const { id, depends_on } of entries) {
    const missing = depends_on.find((other) => !seen.has(other));
    if (missing !== undefined) return `${id} depends on ${missing}, which does not come before it`;
    if (seen.has(id)) return `the id ${id} is used twice`;
    seen.add(id);
  }
  return undefined;
}
