import { z } from 'zod';
import { contentHash } from '../../core/canonical.ts';

/** What every outcome says: its kind, one sentence, and whether the step's question was answered with yes. */
export const outcomeBase = {
  summary: z.string().min(1).max(4_000),
  /** `null`: there was nothing to judge, or no verdict could be reached. It never counts as a yes. */
  passed: z.boolean().nullable(),
};

/** The outcome with the hash of all its other members, so that a change after the fact shows. */
export function withHash<T extends object>(outcome: T): T & { content_hash: string } {
  return { ...outcome, content_hash: contentHash(outcome) };
}

export const hashField = { content_hash: z.string().regex(/^sha256:[0-9a-f]{64}$/) };
