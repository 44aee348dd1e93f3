import { z } from 'zod';
import type { Json } from '../../core/canonical.ts';
import { compileExpression } from '../expression/condition.ts';
import { ENTRY_SCHEMAS, type Entry, type Slot } from '../expression/state-slot.ts';
import type { Outcome } from '../outcome/outcome.ts';

/** The one name that an `output_mapping:` reads. */
export const MAPPING_ROOTS = ['outcome'] as const;

/** What outcomes call the sentence of a part, in the order in which it is looked for. */
const SENTENCES = ['text', 'description', 'summary', 'name'] as const;

const mapping = z.record(z.string(), z.unknown());

/**
 * The entries that a chain's own expression makes of an outcome: of a text, of a mapping with a text among its members, or of
 * a list of these. What fits the slot in no way is counted, never guessed at.
 * @returns `undefined` when the expression has no value: then the slot was not written.
 */
export function mapped<S extends Slot>(
  slot: S,
  source: string,
  outcome: Outcome,
): { entries: Entry<S>[]; unfit: number } | undefined {
  const value = compileExpression(source, MAPPING_ROOTS).evaluate({ outcome });
  if (value === undefined || value === null) return undefined;
  const found = (Array.isArray(value) ? value : [value]).map((item) => fitted(slot, item));
  const entries = found.filter((entry) => entry !== undefined);
  return { entries, unfit: found.length - entries.length };
}

function fitted<S extends Slot>(slot: S, item: Json): Entry<S> | undefined {
  const members = mapping.safeParse(typeof item === 'object' ? item : { text: String(item) });
  if (!members.success) return undefined;
  const text = SENTENCES.map((name) => members.data[name]).find((said) => typeof said === 'string');
  // Members that the slot has no place for are left out: a mapping selects, and need not name each.
  const entry = ENTRY_SCHEMAS[slot].strip().safeParse({ ...members.data, text });
  return entry.success ? (entry.data as Entry<S>) : undefined;
}
