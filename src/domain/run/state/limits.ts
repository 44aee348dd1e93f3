import type { Entry, Slot } from '../../expression/state-slot.ts';

/** The longest text of one entry, in characters (code points). */
export const MAX_ENTRY_TEXT = 500;
/** All entries of a run together, in bytes of their JSON. */
export const MAX_STATE_BYTES = 262_144;
/** Entries of one slot, from all steps together. */
export const MAX_SLOT_ENTRIES = 200;
/** Entries of one slot from one step: enough to judge by, where whoever wants all of it reads the outcome. */
const MAX_STEP_ENTRIES = 50;

/** What one step may take up. */
export interface Share {
  bytes: number;
  entries: number;
}

/**
 * Every step of a run has the same share, whether or not others use theirs: so what is cut from one depends on no other,
 * and in particular not on which of two was done first. A common pool was rejected for that.
 */
export function shareOf(steps: number): Share {
  const count = Math.max(1, steps);
  return {
    bytes: Math.floor(MAX_STATE_BYTES / count),
    entries: Math.min(MAX_STEP_ENTRIES, Math.floor(MAX_SLOT_ENTRIES / count)),
  };
}

/** The slots for whose entries there is room first: what stands in the way, before what surrounds it. */
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

/** What a step wants to put into one slot. */
export interface Wanted {
  slot: Slot;
  entries: readonly Entry[];
}

export interface Kept {
  entries: Entry[];
  /** How many entries there was no room for: always the last ones. */
  cut: number;
  /** How many texts were longer than an entry's may be, and end with `…`. */
  shortened: number;
}

/**
 * How much of what a step wants there is room for: the first entries of each slot, taken one slot after another, so that none
 * crowds out the others. The step's name counts with each, as it is shown with each.
 */
export function withinShare(step: string, wanted: readonly Wanted[], share: Share): Map<Slot, Kept> {
  const queues = WEIGHTIEST_FIRST.flatMap((slot) => wanted.filter((write) => write.slot === slot)).map(
    ({ slot, entries }) => ({ slot, entries, kept: { entries: [], cut: 0, shortened: 0 } as Kept }),
  );
  let left = share.bytes;
  for (let place = 0; place < share.entries; place++) {
    for (const { entries, kept } of queues) {
      const next = entries[place];
      if (next === undefined || kept.entries.length < place) continue;
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

/** The text with no more characters than an entry's may have, and `…` where something was cut. Splits no surrogate pair. */
export function shortened(text: string): string {
  if (text.length <= MAX_ENTRY_TEXT) return text;
  const points = Array.from(text.slice(0, 2 * MAX_ENTRY_TEXT));
  const isShort = points.length <= MAX_ENTRY_TEXT && text.length <= 2 * MAX_ENTRY_TEXT;
  return isShort ? text : `${points.slice(0, MAX_ENTRY_TEXT - 1).join('')}…`;
}
