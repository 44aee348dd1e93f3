import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBudget } from '../../../src/adapters/octokit/budget.ts';
import { URGENCIES, type Urgency } from '../../../src/ports/github.ts';

const NOW = new Date('2030-01-02T03:00:00Z');
const RESET = new Date('2030-01-02T03:30:00Z');
const later = (ms: number) => new Date(NOW.getTime() + ms);

function told(remaining: number, { limit = 5_000, reset = RESET, resource = 'core' } = {}): Headers {
  return new Headers({
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(reset.getTime() / 1_000),
    'x-ratelimit-resource': resource,
  });
}

function having(...answers: Headers[]) {
  const budget = createBudget();
  for (const headers of answers) budget.answered(headers);
  return {
    budget,
    /** Which urgencies may send a new request at that moment. */
    allowed: (now = NOW, inFlight = 0) =>
      URGENCIES.filter((urgency) => !budget.refusedUntil({ urgency, mayBeFree: false, inFlight }, now)),
  };
}

describe('the budget of an hour', () => {
  it.each<[remaining: number, allowed: Urgency[]]>([
    [5_000, ['person', 'run', 'background']],
    [1_001, ['person', 'run', 'background']],
    [1_000, ['person', 'run']],
    [251, ['person', 'run']],
    [250, ['person']],
    [1, ['person']],
    [0, []],
  ])('with %i of 5,000 left is for %s', (remaining, allowed) => {
    expect(having(told(remaining)).allowed()).toEqual(allowed);
  });

  it('names the moment at which GitHub’s new hour begins, and no earlier one', () => {
    const { budget } = having(told(0));
    const refused = budget.refusedUntil({ urgency: 'person', mayBeFree: true, inFlight: 0 }, NOW);
    expect(refused).toEqual(RESET);
    expect(having(told(0)).allowed(RESET)).toEqual(URGENCIES);
  });

  it('allows conditional requests, which cost nothing if nothing changed', () => {
    const { budget } = having(told(3));
    for (const urgency of URGENCIES) {
      expect(budget.refusedUntil({ urgency, mayBeFree: true, inFlight: 0 }, NOW)).toBeUndefined();
    }
  });

  it('counts requests under way as spent, and says to come back soon if only those are in the way', () => {
    const { budget, allowed } = having(told(260));
    expect(allowed(NOW, 9)).toEqual(['person', 'run']);
    expect(allowed(NOW, 10)).toEqual(['person']);
    const refused = budget.refusedUntil({ urgency: 'run', mayBeFree: false, inFlight: 10 }, NOW);
    expect(refused).toEqual(later(1_000));
  });

  it('ignores an answer that a later one overtook, and one from the previous hour', () => {
    const before = new Date(RESET.getTime() - 3_600_000);
    expect(having(told(200), told(4_000)).allowed()).toEqual(['person']);
    expect(having(told(200), told(4_000, { reset: before })).allowed()).toEqual(['person']);
  });

  it('is full again in a new hour', () => {
    expect(having(told(0), told(4_999, { reset: later(7_200_000) })).allowed()).toEqual(URGENCIES);
  });

  it.each([
    ['none of the headers', new Headers()],
    [
      'one header that is not a number',
      new Headers({ ...Object.fromEntries(told(0)), 'x-ratelimit-remaining': 'few' }),
    ],
    ['the headers of another budget', told(0, { resource: 'search' })],
  ])('is unknown with %s, and then delays nobody', (_, headers) => {
    expect(having(headers).allowed()).toEqual(URGENCIES);
  });
});

describe('a pause that GitHub asked for', () => {
  it('delays everybody until it is over, whatever is left of the hour', () => {
    const { budget, allowed } = having(told(5_000));
    budget.hold(later(60_000));
    budget.hold(later(20_000));
    expect(allowed(later(59_999))).toEqual([]);
    expect(budget.refusedUntil({ urgency: 'person', mayBeFree: true, inFlight: 0 }, NOW)).toEqual(
      later(60_000),
    );
    expect(allowed(later(60_000))).toEqual(URGENCIES);
  });
});

it('a refusal always names a later moment, and a more urgent request never waits longer than a less urgent one', () => {
  const answers = fc.array(fc.tuple(fc.nat(100), fc.integer({ min: -2, max: 4 })), { maxLength: 8 });
  fc.assert(
    fc.property(answers, fc.nat(30), fc.boolean(), fc.nat(4), (list, inFlight, mayBeFree, hours) => {
      const budget = createBudget();
      for (const [remaining, hour] of list) {
        budget.answered(told(remaining, { limit: 100, reset: later(hour * 3_600_000 + 1_000) }));
      }
      const now = later((hours - 1) * 3_600_000);
      const until = URGENCIES.map(
        (urgency) => budget.refusedUntil({ urgency, mayBeFree, inFlight }, now)?.getTime() ?? 0,
      );
      for (const moment of until) expect(moment === 0 || moment > now.getTime()).toBe(true);
      expect(until).toEqual([...until].sort((a, b) => a - b));
    }),
  );
});
