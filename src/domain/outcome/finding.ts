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

export const CATEGORIES = [
  'secret',
  'injection',
  'security',
  'correctness',
  'error-handling',
  'workflow',
  'container',
  'style',
  'debugging',
] as const;

/** One problem that a review found, at a position in the pull request's head. */
export const findingSchema = z.strictObject({
  severity: severitySchema,
  category: z.enum(CATEGORIES),
  file: safePathSchema,
  /** Line in the head's version, from 1; absent if the finding is about the whole file. */
  line: z.int().min(1).optional(),
  end_line: z.int().min(1).optional(),
  /** What is wrong, as one sentence. */
  description: z.string().min(1).max(2_000),
  suggestion: z.string().max(2_000),
  /** The rule that found it, as `analyzer/rule`. */
  rule: z.string().max(200),
  /** The changed line that the finding is about, truncated. Secrets in it are already masked. */
  evidence: z.string().max(300).optional(),
});
export type Finding = z.infer<typeof findingSchema>;

export function isBlocking(finding: Finding): boolean {
  return BLOCKING.has(finding.severity);
}
