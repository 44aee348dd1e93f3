import { z } from 'zod';
import type { Json } from '../../core/canonical.ts';
import { isMapping } from '../../core/mapping.ts';
import {
  asKnownCategory,
  categorySchema,
  KNOWN_CATEGORIES,
  SEVERITIES,
} from '../../domain/outcome/finding.ts';
import { isOwnKind } from '../../domain/outcome/own-outcome.ts';
import { VERDICTS } from '../../domain/outcome/review-verdict.ts';
import { statedMembers } from '../../domain/outcome/stated.ts';
import type { SkillOutcome } from '../../domain/skill/manifest.ts';

/** What a model saw of the change. */
export interface Shown {
  /** By path, the lines of the head's version that the change adds. */
  added: ReadonlyMap<string, ReadonlySet<number>>;
  /** Files whose names it saw, but not their content. */
  leftOut: readonly { path: string; reason: string }[];
  /** The rule of its findings, as `skill/artifact`. */
  rule: string;
}

const summary = z.string().min(1).max(2_000).describe('One sentence for the people of the pull request.');

const gateAnswer = z.strictObject({
  summary,
  passed: z.boolean(),
  criteria: z
    .array(
      z.strictObject({
        id: z.string().min(1).max(50),
        description: z.string().min(1).max(500).describe('What was asked.'),
        passed: z.boolean(),
        evidence: z.string().max(500).describe('What of the change shows it.'),
      }),
    )
    .max(20),
});

const reviewAnswer = z.strictObject({
  summary,
  verdict: z.enum(VERDICTS),
  findings: z
    .array(
      z.strictObject({
        severity: z.enum(SEVERITIES),
        category: categorySchema.describe(`A word, such as ${KNOWN_CATEGORIES.join(', ')}.`),
        file: z.string().min(1).max(1_000).nullable().describe('null: the change as a whole.'),
        line: z.int().min(1).nullable().describe('A line that the change adds; null: the file as a whole.'),
        description: z.string().min(1).max(2_000),
        suggestion: z
          .string()
          .max(2_000)
          .nullable()
          .describe('What to do about it; null: nothing to suggest.'),
      }),
    )
    .max(200),
});

/** The JSON Schema of a package's own kind of outcome. */
type OwnSchema = { [key: string]: Json } | null;

function ownAnswer(own: OwnSchema) {
  const data = own === null ? z.record(z.string(), z.json()) : z.fromJSONSchema(own);
  return z.strictObject({ summary, passed: z.boolean().nullable(), data });
}

/**
 * The schema of a model's answer. It has less than the outcome: facts that the run knows are not the model's
 * to state, and nothing appears twice, so that it cannot contradict itself.
 */
export function answerSchema(kind: SkillOutcome, own: OwnSchema = null): z.ZodType<Json> {
  if (isOwnKind(kind)) return ownAnswer(own) as z.ZodType<Json>;
  switch (kind) {
    case 'gate_verdict':
      return gateAnswer as z.ZodType<Json>;
    case 'review_verdict':
      return reviewAnswer as z.ZodType<Json>;
    default:
      return statedMembers(kind) as unknown as z.ZodType<Json>;
  }
}

/** Converts the answer to the outcome's value. */
export function asOutcomeValue(answer: Json, kind: SkillOutcome, shown: Shown): { [key: string]: Json } {
  switch (kind) {
    case 'gate_verdict': {
      const { summary, passed, criteria } = gateAnswer.parse(answer);
      return { summary, passed, gate_passed: passed, criteria };
    }
    case 'review_verdict':
      return review(reviewAnswer.parse(answer), shown);
    default:
      return isMapping(answer) ? answer : {};
  }
}

function review(
  { summary, verdict, findings }: z.infer<typeof reviewAnswer>,
  { added, leftOut, rule }: Shown,
): { [key: string]: Json } {
  return {
    summary,
    verdict,
    passed: verdict === 'APPROVE' || verdict === 'APPROVE_WITH_SUGGESTIONS',
    files_reviewed: added.size - leftOut.length,
    left_out: leftOut.map((file) => ({ ...file })),
    findings: findings.map(({ line, category, ...finding }) => ({
      ...finding,
      category: asKnownCategory(category),
      rule,
      // If the change does not add the line, the model invented it. The finding then applies to the file.
      ...(line !== null && finding.file !== null && added.get(finding.file)?.has(line) ? { line } : {}),
    })),
  };
}
