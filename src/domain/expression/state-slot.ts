import { z } from 'zod';
import { severitySchema } from '../outcome/finding.ts';

/** One sentence or name. It may quote a pull request, so every output encodes it. */
const text = z.string().min(1);
/** `null`: neither, or unknown. */
const yesNo = z.boolean().nullable().default(null);

/**
 * The working memory: what steps find out for later steps, slot by slot. Every entry has a text. The other
 * members are for conditions and comments that need more than prose. The shapes are closed, so that nothing
 * is stored that is not displayed.
 */
export const ENTRY_SCHEMAS = {
  /** The subjects of the work: files, checks, people. */
  entities: z.strictObject({ text }),
  /** Possible next actions, and whether one was chosen. */
  options: z.strictObject({ text, chosen: yesNo }),
  /** Requirements, and whether they are met. */
  criteria: z.strictObject({ text, met: yesNo }),
  /** Observations, and whether they support continuing. */
  evidence: z.strictObject({ text, supports: yesNo }),
  /** Problems that may occur if the run continues. */
  risks: z.strictObject({
    text,
    severity: severitySchema.nullable().default(null),
    file: z.string().nullable().default(null),
    line: z.int().min(1).nullable().default(null),
  }),
  /** Assumptions, and whether they turned out true. */
  hypotheses: z.strictObject({ text, holds: yesNo }),
  /** Open points: not examined, or not determinable. */
  uncertainties: z.strictObject({ text }),
  /** A step's conclusion: as its own term, such as `APPROVE`, and as true or false. */
  decisions: z.strictObject({ text, verdict: z.string().max(100).nullable().default(null), passed: yesNo }),
  /** Notes for later steps and for readers. */
  messages: z.strictObject({ text }),
} as const;

export type Slot = keyof typeof ENTRY_SCHEMAS;
export const SLOTS = Object.keys(ENTRY_SCHEMAS) as [Slot, ...Slot[]];
export const slotSchema = z.enum(SLOTS);

export type Entry<S extends Slot = Slot> = z.output<(typeof ENTRY_SCHEMAS)[S]>;
/** A missing slot was not written. That is different from a slot without entries. */
export type Entries = { readonly [S in Slot]?: readonly Entry<S>[] };
