import { z } from 'zod';
import { parseDuration } from '../core/duration.ts';
import { addressOf } from '../domain/skill/index-address.ts';
import { optionalText, refuse } from './fields.ts';

/** The indexes of skill packages that are checked for new versions. */
export interface SkillIndexesConfig {
  indexes: readonly URL[];
  everyMs: number;
}

const DAY_MS = 86_400_000;
const LEAST_MS = 3_600_000;
const MOST_MS = 30 * DAY_MS;
const MOST_INDEXES = 20;

export const skillIndexesSchema = z
  .object({
    COUNTERSIGN_SKILL_INDEXES: optionalText.transform((value, ctx): URL[] => {
      const indexes = new Map<string, URL>();
      for (const text of (value ?? '').split(/[\s,]+/).filter((part) => part !== '')) {
        const index = addressOf(text);
        if ('because' in index) return refuse(ctx, `must be addresses of indexes: ${index.because}`);
        indexes.set(index.href, index);
      }
      return indexes.size > MOST_INDEXES
        ? refuse(ctx, `must be at most ${MOST_INDEXES}`)
        : [...indexes.values()];
    }),
    COUNTERSIGN_SKILL_CHECK: optionalText.transform((value, ctx): number => {
      if (value === undefined) return DAY_MS;
      const ms = parseDuration(value) ?? 0;
      return ms >= LEAST_MS && ms <= MOST_MS
        ? ms
        : refuse(ctx, 'must be a length of time from 1h to 30d, such as 24h');
    }),
  })
  .transform((env): { skillIndexes?: SkillIndexesConfig } =>
    env.COUNTERSIGN_SKILL_INDEXES.length === 0
      ? {}
      : { skillIndexes: { indexes: env.COUNTERSIGN_SKILL_INDEXES, everyMs: env.COUNTERSIGN_SKILL_CHECK } },
  );
