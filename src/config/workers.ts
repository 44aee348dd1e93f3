import { z } from 'zod';
import { optionalText, refuse } from './fields.ts';

/** How many jobs run at once: reviews, and everything else. */
export interface Workers {
  reviews: number;
  others: number;
}

/** Beyond this, jobs would only wait for GitHub, which is asked by at most 20 requests at the same time. */
const MOST = 64;
const USUAL = 16;

const count = optionalText.transform((value, ctx) => {
  if (value === undefined) return USUAL;
  const given = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  return given >= 1 && given <= MOST ? given : refuse(ctx, `must be a whole number from 1 to ${MOST}`);
});

export const workersSchema = z
  .object({ COUNTERSIGN_WORKERS: count, COUNTERSIGN_REVIEW_WORKERS: count })
  .transform((env): { workers: Workers } => ({
    workers: { reviews: env.COUNTERSIGN_REVIEW_WORKERS, others: env.COUNTERSIGN_WORKERS },
  }));
