import { z } from 'zod';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { readYaml, type YamlSource } from '../chain/positions.ts';
import { checkShape, inFileOrder, listOrOne } from '../chain/shape.ts';
import { safePathSchema } from '../outcome/finding.ts';
import { VERDICTS } from '../outcome/review-verdict.ts';
import type { SkillOutcome } from './manifest.ts';

const text = z.string().max(60_000);

/** A file before and after the pull request. */
export const changedFileSchema = z.union(
  [
    text,
    z
      .strictObject({ before: text.optional(), after: text.optional() })
      .refine(({ before, after }) => before !== after, { error: 'the file is the same before and after' }),
  ],
  { error: 'a file is the text that the pull request adds, or {before: …, after: …}' },
);

const expected = z
  .strictObject({
    verdict: z.enum(VERDICTS).nullable().optional(),
    passed: z.boolean().nullable().optional(),
    findings: z
      .array(z.string().min(1).max(500))
      .max(100)
      .optional()
      .describe('Each as "severity rule path:line"; exactly these, in any order.'),
    fails: z.string().min(1).max(500).optional().describe('Words of the reason why there is no outcome.'),
  })
  .refine((value) => Object.keys(value).length > 0, {
    error: '"expect" is empty; a case states at least one of verdict, passed, findings, fails',
  });

const caseSchema = z.strictObject({
  name: z.string().min(1).max(200).describe('What the case shows, as a sentence.'),
  files: z
    .record(safePathSchema, changedFileSchema)
    .refine((files) => Object.keys(files).length <= 100, { error: 'a case has at most 100 files' })
    .describe('What the pull request changes, by path.'),
  others: listOrOne(safePathSchema).optional().describe('Paths of files that are there and do not change.'),
  title: z.string().max(500).optional(),
  body: z.string().max(10_000).optional(),
  inputs: z.record(z.string(), z.json()).optional().describe('The step’s with.'),
  ci_artifacts: z
    .record(z.string().min(1).max(200), z.record(safePathSchema, text))
    .optional()
    .describe('The workflow artifacts that CI left, by name: the text of each file by its path.'),
  answers: z
    .array(z.json())
    .max(10)
    .optional()
    .describe('What a model answers, in turn; then none is asked.'),
  expect: expected,
});
export type SkillCase = z.infer<typeof caseSchema>;

const caseFileSchema = z.strictObject({ cases: z.array(caseSchema).min(1).max(100) });

/**
 * Keys of a `review_verdict` only. On another outcome, such an expectation would always fail, or always hold
 * if it is null.
 */
const OF_A_REVIEW = ['verdict', 'findings'] as const;

/**
 * Reads a file of `tests/`. Never throws, for any text.
 * @param outcome the skill's outcome, if it is known
 */
export function readCaseFile(
  text: string,
  file: string,
  outcome?: SkillOutcome,
): { cases: SkillCase[]; diagnostics: readonly Diagnostic[] } {
  const source = readYaml(text, file);
  if (source.value === undefined) return { cases: [], diagnostics: source.diagnostics };
  const { value, diagnostics } = checkShape(caseFileSchema, source);
  if (!value) return { cases: [], diagnostics: inFileOrder(diagnostics) };
  const duplicates = repeatedNames(source, value.cases);
  const inapplicable = value.cases.flatMap(({ expect }, index) =>
    OF_A_REVIEW.filter(
      (key) => outcome !== undefined && outcome !== 'review_verdict' && expect[key] !== undefined,
    ).map((key) =>
      source.diagnostic(
        ['cases', index, 'expect', key],
        `a ${outcome} has no ${key}; a case of it expects passed, or that it fails`,
        { part: 'key' },
      ),
    ),
  );
  const wrong = [...duplicates, ...inapplicable];
  return { cases: wrong.length === 0 ? value.cases : [], diagnostics: inFileOrder(wrong) };
}

/** A diagnostic for each case whose name an earlier one has. */
export function repeatedNames(source: YamlSource, cases: readonly { name: string }[]): Diagnostic[] {
  return cases.flatMap(({ name }, index) =>
    cases.findIndex((other) => other.name === name) < index
      ? [source.diagnostic(['cases', index, 'name'], `there is a case "${name}" already`)]
      : [],
  );
}
