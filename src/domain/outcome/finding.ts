import { z } from 'zod';
import { unsafePathReason } from '../../core/path.ts';

export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'] as const;
export const severitySchema = z.enum(SEVERITIES);
export type Severity = z.infer<typeof severitySchema>;

/** A finding of one of these severities prevents the merge. The others are suggestions. */
export const BLOCKING: ReadonlySet<Severity> = new Set(['critical', 'high']);

/** A path inside the repository that cannot lead out of it. */
export const safePathSchema = z.string().refine((path) => unsafePathReason(path) === undefined, {
  error: (issue) => `not a safe relative path: ${unsafePathReason(String(issue.input)) ?? ''}`,
});

/** The categories that everything here knows, with what they are about. A skill may say any other. */
export const CATEGORIES = {
  secret: 'A password, key or token in the change.',
  injection: 'Untrusted text that becomes code, a query or a command.',
  security: 'Any other way to attack the program.',
  correctness: 'The program does something else than it should.',
  'error-handling': 'Errors that nothing handles or reports.',
  workflow: 'CI workflows and what they may do.',
  container: 'Container images.',
  performance: 'Time, memory or requests that are not needed.',
  testing: 'Missing, wrong or unreliable tests.',
  documentation: 'Missing or wrong documentation.',
  compatibility: 'Changes that break existing users or data.',
  maintainability: 'Code that is hard to read or to change.',
  style: 'Matters of taste.',
  debugging: 'Leftovers of debugging.',
} as const;
export type KnownCategory = keyof typeof CATEGORIES;
export const KNOWN_CATEGORIES = Object.keys(CATEGORIES) as [KnownCategory, ...KnownCategory[]];

/** Any word or two. Without characters that cannot be seen, because they would break or reorder a line. */
export const categorySchema = z
  .string()
  .trim()
  .min(1)
  .max(50)
  .refine((text) => !/[\p{C}\p{Zl}\p{Zp}]/u.test(text), {
    error: 'a category is a word or two on one line',
  });

/** `Error handling` as the known `error-handling`; any other category as it is. */
export function asKnownCategory(category: string): string {
  const word = category.toLowerCase().replaceAll(/[\s_]+/g, '-');
  return KNOWN_CATEGORIES.find((known) => known === word) ?? category;
}

/** One problem that a review found, mostly at a position in the pull request's head. */
export const findingSchema = z.strictObject({
  severity: severitySchema,
  category: categorySchema,
  /** `null` if the finding is about the change as a whole. */
  file: safePathSchema.nullable(),
  /** Line in the head's version, from 1; absent if the finding is about the whole file. */
  line: z.int().min(1).optional(),
  end_line: z.int().min(1).optional(),
  /** What is wrong, as one sentence. */
  description: z.string().min(1).max(2_000),
  /** `null` or empty if there is none. */
  suggestion: z.string().max(2_000).nullable(),
  /** The text that replaces the lines from `line` to `end_line`, without a line feed at its end; empty to remove them. */
  fix: z.string().max(2_000).optional(),
  /** The rule that found it, as `analyzer/rule`. */
  rule: z.string().max(200),
  /** The changed line that the finding is about, truncated. Secrets in it are already masked. */
  evidence: z.string().max(300).optional(),
  /** Why it holds, according to a second question to the model that reported it. */
  confirmed: z.string().max(500).optional(),
});
export type Finding = z.infer<typeof findingSchema>;

/** `src/db.ts:12`, only the file for a finding about all of it, or the change as a whole. */
export function placeInWords({ file, line }: Pick<Finding, 'file' | 'line'>): string {
  if (file === null) return 'the change as a whole';
  return line === undefined ? file : `${file}:${line}`;
}

export function isBlocking(finding: Pick<Finding, 'severity'>): boolean {
  return BLOCKING.has(finding.severity);
}
