import { z } from 'zod';
import type { Json } from '../../core/canonical.ts';
import { compileExpression } from '../expression/condition.ts';
import { ENTRY_SCHEMAS, type Entry, type Slot } from '../expression/state-slot.ts';
import type { Outcome } from '../outcome/outcome.ts';

/** The only name that an `output_mapping:` can read. */
export const MAPPING_ROOTS = ['outcome'] as const;

/** The fields that outcomes use for a sentence, in the order in which they are tried. */
const SENTENCES = ['text', 'description', 'summary', 'name'] as const;

const mapping = z.record(z.string(), z.unknown());

/**
 * The entries that a chain's own expression makes of an outcome: of a string, of a mapping with a string
 * member, or of a list of these. `unfit` counts values that do not fit the slot.
 * @returns `undefined` if the expression has no value; the slot is then not written.
 */
export function mapOutcome<S extends Slot>(
  slot: S,
  source: string,
  outcome: Outcome,
): { entries: Entry<S>[]; unfit: number } | undefined {
  const value = compileExpression(source, MAPPING_ROOTS).evaluate({ outcome });
  if (value === undefined || value === null) return undefined;
  const found = (Array.isArray(value) ? value : [value]).map((item) => toEntry(slot, item));
  const entries = found.filter((entry) => entry !== undefined);
  return { entries, unfit: found.length - entries.length };
}

function toEntry<S extends Slot>(slot: S, item: Json): Entry<S> | undefined {
  const members = mapping.safeParse(typeof item === 'object' ? item : { text: String(item) });
  if (!members.success) return undefined;
  const text = SENTENCES.map((name) => members.data[name]).find((value) => typeof value === 'string');
  // `strip` drops members that the slot does not have: an author selects a mapping and need not name each
  // member.
  const entry = ENTRY_SCHEMAS[slot].strip().safeParse({ ...members.data, text });
  return entry.success ? (entry.data as Entry<S>) : undefined;
}
