import { z } from 'zod';
import { contentHash } from '../../core/canonical.ts';

/** The fields of every outcome: its kind, one sentence, and whether the step passed. */
export const outcomeBase = {
  summary: z.string().min(1).max(4_000),
  /** `null`: there was nothing to judge, or no verdict. It never counts as passed. */
  passed: z.boolean().nullable(),
};

/** The outcome with a hash of all other members, so that a later change is detectable. */
export function withHash<T extends object>(outcome: T): T & { content_hash: string } {
  return { ...outcome, content_hash: contentHash(outcome) };
}

export const hashField = { content_hash: z.string().regex(/^sha256:[0-9a-f]{64}$/) };
