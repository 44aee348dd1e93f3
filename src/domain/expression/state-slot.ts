import { z } from 'zod';
import { severitySchema } from '../outcome/finding.ts';

/** One sentence or name. It may quote a pull request, so whoever shows it encodes it for where it stands. */
const text = z.string().min(1);
/** `null`: neither, or nobody knows. */
const yesNo = z.boolean().nullable().default(null);

/**
 * What steps remember for those after them, slot by slot. Every entry has a text; the other members are what a condition or
 * a comment can act on without reading prose. The shapes are closed, so that nothing is remembered that nobody planned to show.
 */
export const ENTRY_SCHEMAS = {
  /** What the work is about: files, checks, people. */
  entities: z.strictObject({ text }),
  /** Ways to go on, and whether one was taken. */
  options: z.strictObject({ text, chosen: yesNo }),
  /** What was asked for, and whether it is met. */
  criteria: z.strictObject({ text, met: yesNo }),
  /** What was seen, and whether it speaks for going on. */
  evidence: z.strictObject({ text, supports: yesNo }),
  /** What may go wrong when it goes on. */
  risks: z.strictObject({
    text,
    severity: severitySchema.nullable().default(null),
    file: z.string().nullable().default(null),
    line: z.int().min(1).nullable().default(null),
  }),
  /** What may be so, and whether it turned out to. */
  hypotheses: z.strictObject({ text, holds: yesNo }),
  /** What nobody looked at, or could find out. */
  uncertainties: z.strictObject({ text }),
  /** What a step concluded: in its own word, such as `APPROVE`, and as a yes or no. */
  decisions: z.strictObject({ text, verdict: z.string().max(100).nullable().default(null), passed: yesNo }),
  /** Words for those who come after. */
  messages: z.strictObject({ text }),
} as const;

export type Slot = keyof typeof ENTRY_SCHEMAS;
export const SLOTS = Object.keys(ENTRY_SCHEMAS) as [Slot, ...Slot[]];
export const slotSchema = z.enum(SLOTS);

export type Entry<S extends Slot = Slot> = z.output<(typeof ENTRY_SCHEMAS)[S]>;
/** A slot that is not there was not written, which is not the same as one without entries. */
export type Entries = { readonly [S in Slot]?: readonly Entry<S>[] };
