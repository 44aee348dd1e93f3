import type { Composite } from './trigger-schema.ts';

/** An event that fills one or more parts of a composite. */
export interface Occurrence {
  /** Positions of the parts that it fills: several if their filters overlap. */
  parts: readonly number[];
  /** When GitHub first sent it, in milliseconds. */
  at: number;
  /** Orders events of the same millisecond: the number of the delivery. */
  order: number;
  /** Equal for the same event, however often it is delivered. */
  of: string;
  /** How many runs started one another until this event; absent if none did. */
  depth?: number;
  /** Whose activity it was, where that can be anybody's; `null` stands for somebody unknown. Absent if only people with access can cause it. */
  by?: readonly (string | null)[];
}

/** What a composite remembers for one key. */
export interface CompositeState {
  /** What counts for a firing in the future, in the order of time. */
  pending: readonly (Occurrence & { until: number })[];
  /** Identities of the newest events, counted or not, so that none counts twice. */
  known: readonly string[];
  /** The last moment that is spent, since the first firing: what happened until then does not count again. */
  spent?: Moment;
}

type Moment = Pick<Occurrence, 'at' | 'order'>;

/** An event without a delivery follows what is known of its moment. */
export type Happened = Omit<Occurrence, 'order'> & { order?: number | undefined };

export const NOTHING_YET: CompositeState = { pending: [], known: [] };

/**
 * How long parts are kept beyond `within`, in milliseconds: deliveries of different keys are processed side by side, and
 * missed ones come late.
 */
const GRACE_MS = 3_600_000;
/** GitHub redelivers for three days: https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks. */
const REMEMBERED_MS = 3 * 86_400_000;
/** Up to this number, events count in any order. Of more, the ends of each row of equal ones are kept, and then the newest. */
export const MAX_PENDING = 32;
const MAX_KNOWN = 64;

/**
 * What becomes of a composite by an event. A fold: the order of arrival does not decide, only the times do.
 *
 * - `all_of` fires when each part has happened within the time; one event can fill several parts.
 * - `sequence` fires when the parts have happened one after the other within the time, whatever happened in between.
 * - `any_of` fires for the first part.
 *
 * A firing spends everything that happened until its last event, known or not. `any_of` then rests for `within`.
 */
export function advance(
  composite: Composite,
  state: CompositeState,
  happened: Happened,
  now: number,
): { state: CompositeState; fired?: readonly Occurrence[] } {
  if (state.known.includes(happened.of)) return { state };
  const occurrence = { ...happened, order: happened.order ?? orderAfter(state, happened.at) };
  const known = [...state.known, occurrence.of].slice(-MAX_KNOWN);
  if (!counts(composite, state, occurrence)) return { state: { ...state, known } };
  const until = Math.max(occurrence.at + composite.withinMs, now) + GRACE_MS;
  const pending = [...state.pending.filter((other) => other.until > now), { ...occurrence, until }].sort(
    inTime,
  );
  const fired = earliestMatch(composite, pending);
  const last = fired?.at(-1);
  if (!fired || !last) return { state: { ...state, known, pending: bounded(pending) } };
  const spent = { at: last.at, order: last.order };
  return { state: { known, spent, pending: pending.filter((other) => inTime(other, spent) > 0) }, fired };
}

function orderAfter({ pending, spent }: CompositeState, at: number): number {
  const others: readonly Moment[] = spent ? [...pending, spent] : pending;
  return 1 + Math.max(-1, ...others.filter((other) => other.at === at).map(({ order }) => order));
}

function counts(composite: Composite, { spent }: CompositeState, occurrence: Occurrence): boolean {
  if (!spent) return true;
  if (composite.kind === 'any_of') return occurrence.at >= spent.at + composite.withinMs;
  return inTime(occurrence, spent) > 0;
}

function inTime(one: Moment, other: Moment): number {
  return one.at - other.at || one.order - other.order;
}

/** The match that ends first, its events in the order of time. */
function earliestMatch(composite: Composite, pending: readonly Occurrence[]): Occurrence[] | undefined {
  const matches = pending.flatMap((_, index) => {
    const match = matchFrom(composite, pending.slice(index));
    return match ? [match] : [];
  });
  const end = (match: readonly Occurrence[]) => match.at(-1) ?? { at: 0, order: 0 };
  return matches.sort((one, other) => inTime(end(one), end(other)))[0];
}

/** The match that begins with the first of these events. */
function matchFrom(composite: Composite, events: readonly Occurrence[]): Occurrence[] | undefined {
  const [first] = events;
  if (!first) return undefined;
  if (composite.kind === 'any_of') return [first];
  const inside = events.filter(({ at }) => at - first.at <= composite.withinMs);
  if (composite.kind === 'sequence') {
    let next = 0;
    const used: Occurrence[] = [];
    for (const event of inside) {
      const before = used.at(-1);
      // Two events of one moment have no order.
      if (!event.parts.includes(next) || (before && inTime(event, before) === 0)) continue;
      if (next === 0 && event !== first) break;
      used.push(event);
      next += 1;
      if (next === composite.parts.length) return used;
    }
    return undefined;
  }
  const used = new Set<Occurrence>();
  for (const part of composite.parts.keys()) {
    const filling = inside.find(({ parts }) => parts.includes(part));
    if (!filling) return undefined;
    used.add(filling);
  }
  return [...used].sort(inTime);
}

function bounded(pending: CompositeState['pending']): CompositeState['pending'] {
  if (pending.length <= MAX_PENDING) return pending;
  const parts = (index: number) => pending[index]?.parts.join();
  const ends = pending.filter(
    (_, index) => parts(index - 1) !== parts(index) || parts(index + 1) !== parts(index),
  );
  return ends.slice(-MAX_PENDING);
}

/** When the state can be forgotten. */
export function expiryOf({ withinMs }: Composite, { pending, spent }: CompositeState): Date {
  const waits = pending.map(({ until }) => until);
  return new Date(
    Math.max(0, ...waits, ...(spent ? [spent.at + Math.max(withinMs, REMEMBERED_MS) + GRACE_MS] : [])),
  );
}

/** How far a composite is for one key, part by part. */
export interface Progress {
  parts: { event: string; at: Date | undefined }[];
  /** Each part has happened, but not in this order or not close enough in time. */
  isComplete: boolean;
  /** Until when what is missing can happen and count with what happened. */
  until: Date;
}

/**
 * `undefined` if it has fired, or if nothing has happened that could complete it: the later parts of a sequence alone
 * wait only for an earlier event that arrives late.
 */
export function progressOf(composite: Composite, { pending, spent }: CompositeState): Progress | undefined {
  if (spent || pending.length === 0) return undefined;
  const last = (part: number) => pending.findLast(({ parts }) => parts.includes(part))?.at;
  if (composite.kind === 'sequence' && last(0) === undefined) return undefined;
  const parts = composite.parts.map(({ event }, part) => {
    const at = last(part);
    return { event, at: at === undefined ? undefined : new Date(at) };
  });
  const isComplete = parts.every(({ at }) => at !== undefined);
  const times = parts.flatMap(({ at }) => at?.getTime() ?? []);
  // What completes it must be close to all the others, or follow the first.
  const first = composite.kind === 'sequence' ? (last(0) ?? 0) : Math.min(...times);
  const from = isComplete ? Math.max(...times) : first;
  return { parts, isComplete, until: new Date(from + composite.withinMs) };
}
