import { z } from 'zod';
import { canonicalJson } from '../../core/canonical.ts';
import { notAllowed } from '../../core/diagnostic.ts';
import { hashField, outcomeBase } from './base.ts';

/** A kind of outcome that a package registers. The "/" keeps it apart from every kind of Countersign. */
export type OwnKind = `${string}/${string}`;

const OWN_KIND = /^[a-z][a-z0-9_-]{0,39}\/[a-z][a-z0-9_-]{0,39}$/;
const MAX_DATA_BYTES = 100_000;

const OWN = 'a kind of your own, which is two words with a "/", such as octo/coverage';
const ownKindSchema = z.string().regex(OWN_KIND, { abort: true }) as unknown as z.ZodType<OwnKind, OwnKind>;

/** One of the known kinds, or one of a package. */
export function kindSchema<const Known extends readonly string[]>(known: Known) {
  return z.union([z.enum(known), ownKindSchema], {
    error: ({ input }) =>
      typeof input === 'string'
        ? notAllowed(`"outcome" cannot be "${input}"`, [...known, OWN], input)
        : '"outcome" must be a text',
  });
}

/** What a package produces whose kind Countersign does not know. Its package says what `data` is. */
export const ownOutcomeSchema = z.strictObject({
  outcome_kind: ownKindSchema,
  ...outcomeBase,
  data: z.record(z.string(), z.json()).refine((data) => canonicalJson(data).length <= MAX_DATA_BYTES, {
    error: `its data has more than ${MAX_DATA_BYTES} characters`,
  }),
  ...hashField,
});
export type OwnOutcome = z.infer<typeof ownOutcomeSchema>;

export function isOwnKind(kind: string): kind is OwnKind {
  return kind.includes('/');
}
