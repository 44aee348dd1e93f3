import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Write } from '../../../src/engine/effects/fair-share.ts';
import { WRITE_CLASSES, type WriteClass } from '../../../src/engine/effects/write-class.ts';
import { createWriteLimiter } from '../../../src/engine/effects/write-limiter.ts';
import { at } from '../../support/builders.ts';
import { eachFirstQuick } from '../../support/each-first-quick.ts';

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

interface DesiredEffect {
  class: WriteClass;
  person?: string | null;
  pullRequest?: string | null;
  /** When it is requested, in ms. */
  from: number;
}

interface Sent extends Write {
  from: number;
  sentAt: number;
}

/**
 * Desired effects as the queue handles them: each asks when it is requested, and again at every time that it gets, until it is
 * written.
 */
function play(desiredEffects: readonly DesiredEffect[], creates = true): Sent[] {
  const limiter = createWriteLimiter();
  const waiting = desiredEffects.map((desired, index) => {
    const { from, class: name, person = `p${index}`, pullRequest = `1#${index}` } = desired;
    const write = { key: `${String(index).padStart(5, '0')}`, class: name, person, pullRequest };
    return { write, from, next: from };
  });
  const sent: Sent[] = [];
  while (waiting.length > 0) {
    waiting.sort((one, other) => one.next - other.next);
    const [first] = waiting;
    if (!first || first.next > 30 * DAY) throw new Error('a write never goes out');
    const later = limiter.take(1, { ...first.write, creates }, at(first.next));
    if (later) {
      const next = later.getTime() - at(0).getTime();
      expect(next).toBeGreaterThan(first.next);
      first.next = next;
    } else {
      sent.push({ ...first.write, from: first.from, sentAt: first.next });
      waiting.shift();
    }
  }
  return sent;
}

const MERGE = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge';

/** How many of that many new questions may be asked at once. */
function takenOf(limiter: ReturnType<typeof createWriteLimiter>, count: number, ms = 0): number {
  return Array.from({ length: count }, (_, index) => {
    const write = { key: `${ms} ${index}`, class: 'question', person: null, pullRequest: null } as const;
    return limiter.take(1, { ...write, creates: true }, at(ms));
  }).filter((later) => later === undefined).length;
}

const times = (count: number, desired: DesiredEffect): DesiredEffect[] =>
  Array.from({ length: count }, () => desired);
const delays = (sent: readonly Sent[], of: (write: Sent) => boolean) =>
  sent.filter(of).map(({ from, sentAt }) => sentAt - from);

describe('writes of one installation', () => {
  test('go at once in a burst, as long as the class has room', () => {
    const sent = play(times(80, { class: 'question', from: 0 }));
    expect(delays(sent, () => true).filter((delay) => delay === 0)).toHaveLength(63);
    expect(delays(sent, () => true).filter((delay) => delay === MINUTE)).toHaveLength(17);
  });

  eachFirstQuick(WRITE_CLASSES.slice(1).map((name, index) => [name, WRITE_CLASSES[index] ?? name] as const))(
    'of the class %s leave room for those of the class %s, however many there are',
    (low, high) => {
      const flood = times(400, { class: low, from: 0 });
      const sent = play([...flood, { class: high, from: 1 }, { class: high, from: 40 * MINUTE }]);
      expect(delays(sent, (write) => write.class === high)).toEqual([0, 0]);
    },
  );

  eachFirstQuick(WRITE_CLASSES)('of the class %s by one person leave room for another person’s', (name) => {
    const flood = times(400, { class: name, person: 'otto', from: 0 });
    const sent = play([
      ...flood,
      { class: name, person: 'mia', from: 1 },
      { class: name, person: 'mia', from: HOUR / 2 },
    ]);
    expect(delays(sent, ({ person }) => person === 'mia')).toEqual([0, 0]);
  });

  test('on one pull request leave room for those on another', { tags: 'slow' }, () => {
    const flood = times(400, { class: 'reply', pullRequest: '1#1', person: null, from: 0 });
    const sent = play([...flood, { class: 'reply', pullRequest: '1#2', person: null, from: 1 }]);
    expect(delays(sent, ({ pullRequest }) => pullRequest === '1#2')).toEqual([0]);
  });

  test('that wait go by their worth, not by their arrival', { tags: 'slow' }, () => {
    const full = WRITE_CLASSES.flatMap((name) => times(70, { class: name, from: 0 }));
    const late = WRITE_CLASSES.toReversed().map((name, index) => ({
      class: name,
      from: 10_000 + index,
      person: 'late',
    }));
    const sent = play([...full, ...late]);
    const order = sent.filter(({ person }) => person === 'late').map((write) => write.class);
    expect(order).toEqual([...WRITE_CLASSES]);
  });

  test('all go out eventually, even while more urgent ones never stop coming', () => {
    const urgent = Array.from(
      { length: 500 },
      (_, index): DesiredEffect => ({ class: 'gate', from: index * 7_000 }),
    );
    const low = WRITE_CLASSES.map(
      (name): DesiredEffect => ({ class: name, person: 'late', from: 10 * MINUTE }),
    );
    const sent = play([...urgent, ...low]);
    expect(Math.max(...delays(sent, ({ person }) => person === 'late'))).toBeLessThanOrEqual(HOUR);
  });

  test('do not wait for one that was given a time and does not come', () => {
    const limiter = createWriteLimiter();
    const write = (key: string, name: WriteClass) => ({
      key,
      class: name,
      creates: true,
      person: key,
      pullRequest: null,
    });
    for (let count = 0; count < 63; count++) limiter.take(1, write(`${count}`, 'gate'), at(0));
    expect(limiter.take(1, write('lost', 'gate'), at(1))).toEqual(at(MINUTE));
    expect(limiter.take(1, write('other', 'gate'), at(MINUTE + 5_000))).toBeUndefined();
  });

  test('that create nothing do not wait for those that do', () => {
    const limiter = createWriteLimiter();
    const write = { class: 'report', person: null, pullRequest: null } as const;
    for (let count = 0; count < 490; count++) {
      limiter.take(1, { ...write, key: `${count}`, creates: true }, at(count * 7_000));
    }
    const edits = Array.from({ length: 60 }, (_, index) =>
      limiter.take(1, { ...write, key: `edit ${index}`, creates: false }, at(HOUR - 60_000)),
    );
    expect(edits.filter((later) => later !== undefined)).toEqual([]);
  });

  test('leave room for the merges of the same minute', () => {
    const limiter = createWriteLimiter();
    const merged = { installationId: 1, route: MERGE, limited: false };
    for (let count = 0; count < 60; count++) limiter.answered(merged, at(0));
    expect(takenOf(limiter, 20)).toBe(6);
    expect(takenOf(limiter, 20, MINUTE)).toBe(20);
  });

  test('leave room for the merges of the hour once GitHub has refused a write, and go at half the rate', () => {
    const limiter = createWriteLimiter();
    const answered = { installationId: 1, route: MERGE, limited: false };
    for (let count = 0; count < 200; count++) limiter.answered(answered, at(0));
    limiter.answered({ ...answered, limited: true }, at(0));
    expect(takenOf(limiter, 80, MINUTE)).toBe(15);
    expect(takenOf(limiter, 80, 2 * HOUR)).toBe(63);
  });

  test('of other installations have their own budgets', () => {
    const limiter = createWriteLimiter();
    const write = { class: 'reply', creates: true, person: 'otto', pullRequest: '1#1' } as const;
    const taken = (installation: number) =>
      Array.from({ length: 100 }, (_, index) =>
        limiter.take(installation, { ...write, key: `${index}` }, at(0)),
      ).filter((later) => later === undefined).length;
    expect([taken(1), taken(2)]).toEqual([5, 5]);
  });

  test('of the process before count, until this process learns that another one has written', () => {
    const limiter = createWriteLimiter();
    const sent = (count: number) => ({
      content: Array.from({ length: count }, (_, index) => ({
        ...({ key: `before ${index}`, class: 'question', person: null, pullRequest: null } as const),
        at: at(0).getTime(),
      })),
      writeRefusedAt: undefined,
    });
    expect(limiter.knows(1)).toBe(false);
    limiter.recall(1, sent(60));
    expect(limiter.knows(1)).toBe(true);
    // Questions have 85 % of 75.
    expect(takenOf(limiter, 20)).toBe(3);
    limiter.recall(1, sent(0));
    expect(takenOf(limiter, 20)).toBe(0);

    limiter.forget([1]);
    expect(limiter.knows(1)).toBe(false);
    limiter.recall(1, sent(50));
    expect(takenOf(limiter, 20)).toBe(13);
  });

  test('are half as many for an hour after GitHub refused one to the process before', () => {
    const limiter = createWriteLimiter();
    limiter.recall(1, { content: [], writeRefusedAt: at(0) });
    // Questions have 85 % of half of 75.
    expect(takenOf(limiter, 80, HOUR - 1)).toBe(32);
    expect(takenOf(limiter, 80, 2 * HOUR)).toBe(63);
  });

  test('wait for the end of a pause that GitHub asked for', () => {
    const limiter = createWriteLimiter();
    limiter.hold(1, at(30_000));
    limiter.hold(1, at(10_000));
    const write = { key: 'one', class: 'gate', creates: true, person: null, pullRequest: null } as const;
    expect([limiter.take(1, write, at(0)), limiter.take(1, write, at(30_000))]).toEqual([
      at(30_000),
      undefined,
    ]);
  });
});

describe('for any requests at any time', () => {
  const desired = fc.record({
    class: fc.constantFrom(...WRITE_CLASSES),
    person: fc.constantFrom('otto', 'mia', 'ada', null),
    pullRequest: fc.constantFrom('1#1', '1#2', '1#3', null),
    from: fc.nat(HOUR),
  });
  const flood = fc
    .record({ desired: fc.record({ ...desiredParts() }), count: fc.integer({ min: 1, max: 150 }) })
    .map(({ desired: one, count }) => times(count, one));
  const many = fc.array(flood, { maxLength: 4 }).map((floods) => floods.flat());

  function desiredParts() {
    return {
      class: fc.constantFrom(...WRITE_CLASSES),
      person: fc.constant('otto'),
      pullRequest: fc.constantFrom('1#1', '1#2'),
      from: fc.nat(HOUR),
    };
  }

  test('no minute has more than 75 new comments, no hour more than 490, and every write goes out', {
    tags: 'slow',
  }, () => {
    fc.assert(
      fc.property(many, fc.array(desired, { maxLength: 80 }), (floods, others) => {
        const desiredEffects = [...floods, ...others];
        const sent = play(desiredEffects).map(({ sentAt }) => sentAt);
        expect(sent).toHaveLength(desiredEffects.length);
        for (const [index, time] of sent.entries()) {
          expect(time - (sent[index - 75] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(MINUTE);
          expect(time - (sent[index - 490] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(HOUR);
        }
      }),
      { numRuns: 10 },
    );
  });

  test('one person’s flood delays no other person’s approval comment', { tags: 'slow' }, () => {
    fc.assert(
      fc.property(many, fc.nat(2 * HOUR), (floods, from) => {
        const sent = play([...floods, { class: 'question', person: 'mia', pullRequest: '1#9', from }]);
        expect(delays(sent, ({ person }) => person === 'mia')).toEqual([0]);
      }),
      { numRuns: 10 },
    );
  });
});
