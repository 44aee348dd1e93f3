import type { Entry, Slot } from '../../expression/state-slot.ts';

/** Text of one entry, in characters (code points). */
export const MAX_ENTRY_TEXT = 500;
/** All entries of a run together, in bytes of their JSON. */
export const MAX_STATE_BYTES = 262_144;
/** Entries of one slot, from all steps together. */
export const MAX_SLOT_ENTRIES = 200;
/** Entries of one slot from one step. Enough for decisions; the outcome has all of them. */
const MAX_STEP_ENTRIES = 50;

/** The space that one step may use. */
export interface Share {
  bytes: number;
  entries: number;
}

/**
 * Every step of a run has the same share, whether or not others use theirs. So truncation of one step's
 * entries does not depend on other steps, in particular not on which one finished first. Rejected for that
 * reason: a common pool.
 */
export function shareOf(steps: number): Share {
  const count = Math.max(1, steps);
  return {
    bytes: Math.floor(MAX_STATE_BYTES / count),
    entries: Math.min(MAX_STEP_ENTRIES, Math.floor(MAX_SLOT_ENTRIES / count)),
  };
}

/** The order in which slots get space: blocking information first, then context. */
const WEIGHTIEST_FIRST: readonly Slot[] = [
  'decisions',
  'risks',
  'uncertainties',
  'evidence',
  'criteria',
  'hypotheses',
  'options',
  'entities',
  'messages',
];

/** The entries that a step produces for one slot. */
export interface SlotEntries {
  slot: Slot;
  entries: readonly Entry[];
}

export interface KeptEntries {
  entries: Entry[];
  /** How many entries were dropped for lack of space: always the last ones. */
  cut: number;
  /** How many texts were longer than an entry allows, and end with `…`. */
  shortened: number;
}

/**
 * The entries that fit into a step's share: the first of each slot, then the second of each, and so on, so
 * that no slot crowds out another. The step's name counts with each entry, because it is displayed with it.
 */
export function withinShare(
  step: string,
  produced: readonly SlotEntries[],
  share: Share,
): Map<Slot, KeptEntries> {
  const queues = WEIGHTIEST_FIRST.flatMap((slot) => produced.filter((write) => write.slot === slot)).map(
    ({ slot, entries }) => ({ slot, entries, kept: { entries: [], cut: 0, shortened: 0 } as KeptEntries }),
  );
  let left = share.bytes;
  for (let round = 0; round < share.entries; round++) {
    for (const { entries, kept } of queues) {
      const next = entries[round];
      if (next === undefined || kept.entries.length < round) continue;
      const entry = { ...next, text: shortened(next.text) };
      const bytes = Buffer.byteLength(JSON.stringify({ ...entry, step })) + 1;
      if (bytes > left) continue;
      left -= bytes;
      kept.entries.push(entry);
      if (entry.text !== next.text) kept.shortened += 1;
    }
  }
  return new Map(
    queues.map(({ slot, entries, kept }) => [slot, { ...kept, cut: entries.length - kept.entries.length }]),
  );
}

/** The text, truncated with `…` to the length of an entry. Splits no surrogate pair. */
export function shortened(text: string): string {
  if (text.length <= MAX_ENTRY_TEXT) return text;
  const points = Array.from(text.slice(0, 2 * MAX_ENTRY_TEXT));
  const isShort = points.length <= MAX_ENTRY_TEXT && text.length <= 2 * MAX_ENTRY_TEXT;
  return isShort ? text : `${points.slice(0, MAX_ENTRY_TEXT - 1).join('')}…`;
}
