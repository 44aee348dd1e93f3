import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  advance,
  type CompositeState,
  expiryOf,
  MAX_PENDING,
  NOTHING_YET,
  type Occurrence,
  progressOf,
} from '../../../src/domain/chain/composite.ts';
import type { Composite, CompositeKind } from '../../../src/domain/chain/trigger-schema.ts';

const HOUR = 3_600_000;
const EVENTS = ['pr.labeled', 'ci.changed', 'pr.review_submitted'] as const;

function composite(kind: CompositeKind, parts: number, withinMs = 24 * HOUR): Composite {
  return {
    kind,
    parts: EVENTS.slice(0, parts).map((event) => ({ event, filter: {} })),
    withinMs,
    key: 'pull_request',
  };
}

/** `a@3` is the first part, three hours after the start; `ab@3` an event that fills two. */
function occurrence(text: string): Occurrence {
  const [letters = '', hours] = text.split('@');
  const parts = [...letters].map((letter) => letter.charCodeAt(0) - 97);
  return { parts, at: Number(hours) * HOUR, order: 0, of: text };
}

/** Plays events as they arrive, each at its own time or later. @returns what each firing was made of */
function play(of: Composite, arriving: readonly Occurrence[], from: CompositeState = NOTHING_YET) {
  let state = from;
  let now = 0;
  const firings: string[] = [];
  for (const one of arriving) {
    now = Math.max(now, one.at);
    const next = advance(of, state, one, now);
    state = next.state;
    if (next.fired) firings.push(next.fired.map((used) => used.of).join(' '));
  }
  return { state, firings };
}

describe.each([
  // Parts as they arrive, and what each firing was made of.
  ['all_of', 2, 'a@1 b@2', ['a@1 b@2']],
  ['all_of', 2, 'b@1 a@2', ['b@1 a@2']],
  ['all_of', 2, 'a@1 a@2 a@3', []],
  ['all_of', 2, 'a@1 b@2 b@3 b@4', ['a@1 b@2']],
  ['all_of', 2, 'a@1 b@2 a@3 b@4', ['a@1 b@2', 'a@3 b@4']],
  ['all_of', 2, 'a@1 b@2 b@3 a@4', ['a@1 b@2', 'b@3 a@4']],
  ['all_of', 2, 'ab@1', ['ab@1']],
  ['all_of', 2, 'a@1 b@25', ['a@1 b@25']],
  ['all_of', 2, 'a@1 b@26', []],
  ['all_of', 2, 'a@1 a@10 b@26', ['a@10 b@26']],
  ['all_of', 3, 'a@1 b@20 c@26 a@27', ['b@20 c@26 a@27']],
  // What is late counts at its own time. What happened before a firing is spent.
  ['all_of', 2, 'b@2 a@1', ['a@1 b@2']],
  ['all_of', 2, 'a@1 b@5 a@3 b@4', ['a@1 b@5']],
  ['sequence', 2, 'a@1 b@2', ['a@1 b@2']],
  ['sequence', 2, 'b@1 a@2', []],
  ['sequence', 2, 'b@1 a@2 b@3', ['a@2 b@3']],
  ['sequence', 2, 'b@2 a@1', ['a@1 b@2']],
  ['sequence', 2, 'ab@1', []],
  ['sequence', 2, 'a@1 b@26', []],
  ['sequence', 3, 'a@1 b@2 a@3 c@4', ['a@1 b@2 c@4']],
  ['sequence', 3, 'a@1 c@2 b@3', []],
  ['sequence', 3, 'a@1 b@2 c@3 b@4 c@5', ['a@1 b@2 c@3']],
  ['any_of', 2, 'a@1', ['a@1']],
  ['any_of', 2, 'a@1 b@2 a@24', ['a@1']],
  ['any_of', 2, 'b@1 a@25', ['b@1', 'a@25']],
  ['any_of', 2, 'a@10 b@5', ['a@10']],
] as const)('%s of %i parts', (kind, parts, events, expected) => {
  test(`${events} fires ${expected.length === 0 ? 'nothing' : expected.join(', then ')}`, () => {
    expect(play(composite(kind, parts), events.split(' ').map(occurrence)).firings).toEqual(expected);
  });
});

test('two events of one moment have no order, unless their deliveries have one', () => {
  const [a, b] = [occurrence('a@1'), occurrence('b@1')];
  expect(play(composite('sequence', 2), [a, b]).firings).toEqual([]);
  expect(play(composite('sequence', 2), [b, { ...a, order: -1 }]).firings).toEqual(['a@1 b@1']);
});

/** Events at different times, within the bounds that are exact. */
const happened = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 60 }), fc.subarray([0, 1, 2], { minLength: 1 })), {
    selector: ([hour]) => hour,
    maxLength: MAX_PENDING,
  })
  .map((list) =>
    list
      .map(([hour, parts]) => ({ parts, at: hour * HOUR, order: 0, of: `e${hour}` }))
      .sort((one, other) => one.at - other.at),
  );
const kinds = fc.constantFrom<CompositeKind>('all_of', 'any_of', 'sequence');

/** Without expiry: everything arrives in one moment, as after a long absence. */
function arriveTogether(of: Composite, arriving: readonly Occurrence[]) {
  let state = NOTHING_YET;
  const firings: (readonly Occurrence[])[] = [];
  for (const one of arriving) {
    const next = advance(of, state, one, 100 * HOUR);
    state = next.state;
    if (next.fired) firings.push(next.fired);
  }
  return { state, firings };
}

test('in any order of arrival, a composite fires if it would in order, and never more often', () => {
  const shuffled = happened.chain((events) =>
    fc.tuple(
      fc.constant(events),
      fc.shuffledSubarray(events, { minLength: events.length, maxLength: events.length }),
    ),
  );
  fc.assert(
    fc.property(kinds, shuffled, (kind, [inOrder, arriving]) => {
      const of = composite(kind, 3);
      const [first, second] = [arriveTogether(of, inOrder), arriveTogether(of, arriving)];
      expect(second.firings.length > 0).toBe(first.firings.length > 0);
      expect(second.firings.length).toBeLessThanOrEqual(first.firings.length);
    }),
  );
});

test('events that are delivered again, at once or later, change nothing', () => {
  const again = fc.array(fc.nat());
  fc.assert(
    fc.property(kinds, happened, again, (kind, events, picks) => {
      const of = composite(kind, 3);
      const once = play(of, events);
      const doubled = events.flatMap((event, index) => {
        const older = events[(picks[index] ?? 0) % (index + 1)];
        return older ? [event, { ...older, at: event.at, order: 1 }] : [event];
      });
      expect(play(of, doubled)).toEqual(once);
    }),
  );
});

test('each firing has all parts, in time and for a sequence in order, and no event counts twice', () => {
  fc.assert(
    fc.property(kinds, happened, (kind, events) => {
      const of = composite(kind, 3);
      const { firings } = arriveTogether(of, events);
      const used = firings.flat();
      expect(new Set(used).size).toBe(used.length);
      for (const firing of firings) {
        const times = firing.map(({ at }) => at);
        expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(of.withinMs);
        if (kind === 'sequence')
          expect(firing.map(({ parts }, index) => parts.includes(index))).toEqual([true, true, true]);
        else if (kind === 'all_of')
          expect(new Set(firing.flatMap(({ parts }) => parts))).toEqual(new Set([0, 1, 2]));
      }
    }),
  );
});

test('a state stays small, however many events come', () => {
  const of = composite('all_of', 3);
  const events = Array.from({ length: 2_000 }, (_, index) => ({
    ...occurrence(index % 3 === 0 ? 'b@1' : 'a@1'),
    at: index,
    of: `event ${index}`,
  }));
  const { state, firings } = play(of, events);
  expect(firings).toEqual([]);
  expect(JSON.stringify(state).length).toBeLessThan(5_000);
  expect(advance(of, state, { ...occurrence('c@1'), at: 2_000 }, 2_000).fired).toHaveLength(3);
});

describe('what is left of a composite that did not fire', () => {
  const of = composite('all_of', 2);

  test('names the parts that happened and those that did not', () => {
    const { state } = play(of, ['a@1', 'a@2'].map(occurrence));
    expect(progressOf(of, state)).toEqual({
      parts: [
        { event: 'pr.labeled', at: new Date(2 * HOUR) },
        { event: 'ci.changed', at: undefined },
      ],
      isComplete: false,
      until: new Date(26 * HOUR),
    });
    expect(expiryOf(of, state)).toEqual(new Date(27 * HOUR));
  });

  test('says that a sequence has all its parts in another order', () => {
    const sequence = composite('sequence', 2);
    const { state } = play(sequence, ['b@1', 'a@2'].map(occurrence));
    expect(progressOf(sequence, state)).toMatchObject({ isComplete: true });
  });

  test('is nothing if it has fired, or if only later parts of a sequence happened', () => {
    expect(progressOf(of, play(of, ['a@1', 'b@2', 'b@3'].map(occurrence)).state)).toBeUndefined();
    const sequence = composite('sequence', 2);
    expect(progressOf(sequence, play(sequence, [occurrence('b@1')]).state)).toBeUndefined();
  });

  test('is remembered longer than GitHub redelivers, once it has fired', () => {
    const { state } = play(of, ['a@1', 'b@2'].map(occurrence));
    expect(expiryOf(of, state).getTime()).toBeGreaterThan((2 + 72) * HOUR);
  });
});
