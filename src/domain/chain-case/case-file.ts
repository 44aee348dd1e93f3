import { z } from 'zod';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { CHAIN_NAME } from '../chain/chain.ts';
import { readYaml } from '../chain/positions.ts';
import { checkShape, inFileOrder, listOrOne } from '../chain/shape.ts';
import { safePathSchema } from '../outcome/finding.ts';
import { STEP_STATUSES } from '../run/run.ts';
import { changedFileSchema, repeatedNames } from '../skill/case-file.ts';
import { happeningSchema } from './happening.ts';

/**
 * What became of a pull request. `asked`: the chain waits for a countersign. `waits`: for something else. `done`: every step
 * ended. `not_passed`: the same, and a result keeps the run from success. `stopped`: a step failed, and the run with it.
 * `not_run`: no run began.
 */
const CASE_RESULTS = ['asked', 'waits', 'done', 'not_passed', 'stopped', 'not_run'] as const;
export type CaseResult = (typeof CASE_RESULTS)[number];

const words = z.string().min(1).max(500);
const login = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9-]{0,38}(\[bot\])?$/, {
  error: 'a login on GitHub, such as ada or dependabot[bot]',
});

const pullRequest = z
  .strictObject({
    title: z.string().max(500),
    body: z.string().max(10_000),
    author: login,
    base: z.string().min(1).max(200),
    head: z.string().min(1).max(200),
    draft: z.boolean(),
    labels: z.array(z.string().max(100)).max(100),
  })
  .partial();

const expected = z
  .strictObject({
    result: z.enum(CASE_RESULTS).optional(),
    because: words.optional().describe('Words of the reason.'),
    steps: z
      .record(z.string(), z.enum(STEP_STATUSES))
      .optional()
      .describe(
        'The state of steps, by id; others are not compared. A step of a chain that a step runs is named after both: sub.say.',
      ),
    runs: z.int().min(0).max(100).optional().describe('How many runs begin.'),
    writes: listOrOne(words).optional().describe('Words of a comment, check run or label that is written.'),
    writes_not: listOrOne(words).optional().describe('Words that nothing written has.'),
  })
  .refine((value) => Object.keys(value).length > 0, {
    error: '"expect" is empty; a case states at least one of result, because, steps, writes, writes_not',
  });

const caseFields = z.strictObject({
  name: z.string().min(1).max(200).describe('What the case shows, as a sentence.'),
  pull_request: pullRequest.optional().describe('By default, a change by ada from "change" into "main".'),
  on: z
    .enum(['pr.opened', 'pr.merged', 'pr.closed', 'schedule'])
    .optional()
    .describe(
      'What happens; pr.opened by default. A schedule has no pull request: "checks" are those of main.',
    ),
  at: z.iso
    .datetime({ offset: true, error: 'a moment is written 2026-03-02T12:00:00Z' })
    .optional()
    .describe('When it happens; now by default.'),
  files: z
    .record(safePathSchema, changedFileSchema)
    .refine((files) => Object.keys(files).length <= 100, { error: 'a case has at most 100 files' })
    .optional()
    .describe('What the pull request changes, by path; README.md by default.'),
  checks: z
    .record(z.string().min(1).max(200), z.enum(['success', 'failure', 'neutral', 'skipped', 'in_progress']))
    .optional()
    .describe('The checks of CI on its head, by name.'),
  fire: z
    .record(z.string().min(1).max(100), z.union([z.string().max(1_000), z.number(), z.boolean()]))
    .optional()
    .describe('The inputs of a chain that is fired by hand, whatever its trigger.'),
  events: z
    .array(happeningSchema)
    .min(1)
    .max(20)
    .optional()
    .describe('What happens one after the other. The pull request opens before the first of them.'),
  outcomes: z
    .record(z.string(), z.record(z.string(), z.json()))
    .optional()
    .describe(
      'What steps conclude, by id, instead of working: members of their outcome, or "fails" with a reason.',
    ),
  expect: expected,
});

const caseSchema = caseFields.superRefine(({ events, on, fire }, context) => {
  if (!events || (on === undefined && fire === undefined)) return;
  const key = on === undefined ? 'fire' : 'on';
  context.addIssue({
    code: 'custom',
    path: [key],
    message: `"${key}" and "events" exclude each other: events say what happens`,
  });
});
export type ChainCase = z.output<typeof caseSchema>;

const caseFileSchema = z.strictObject({
  chain: z.string().regex(CHAIN_NAME, { error: 'the name of a chain' }),
  cases: z.array(caseSchema).min(1).max(100),
});

/** Reads a file of `.github/countersign/tests`. Never throws, for any text. */
export function readChainCases(
  text: string,
  file: string,
): { chain?: string; cases: ChainCase[]; diagnostics: readonly Diagnostic[] } {
  const source = readYaml(text, file);
  if (source.value === undefined) return { cases: [], diagnostics: source.diagnostics };
  const { value, diagnostics } = checkShape(caseFileSchema, source);
  if (!value) return { cases: [], diagnostics: inFileOrder(diagnostics) };
  const duplicates = repeatedNames(source, value.cases);
  return { ...value, cases: duplicates.length === 0 ? value.cases : [], diagnostics: duplicates };
}
