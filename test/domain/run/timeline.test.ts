import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PastTransition } from '../../../src/domain/run/history.ts';
import { type Invocation, NOT_BEGUN, type StepStatus } from '../../../src/domain/run/run.ts';
import { position, timelineOf, totals } from '../../../src/domain/run/timeline.ts';

const BEGIN = Date.parse('2026-03-02T09:00:00.000Z');
const at = (seconds: number) => new Date(BEGIN + seconds * 1_000);

function step(changes: readonly (readonly [seconds: number, to: StepStatus])[]) {
  const invocation: Invocation = {
    ...NOT_BEGUN,
    id: 'inv_1',
    runId: 'run_1',
    stepIndex: 0,
    stepId: 'one',
    startedAt: changes[0] ? at(changes[0][0]) : null,
  };
  const past = changes.map(
    ([seconds, to], index): PastTransition => ({
      subject: { kind: 'invocation', id: 'inv_1' },
      from: changes[index - 1]?.[1] ?? 'pending',
      to,
      reason: null,
      by: { kind: 'time' },
      at: at(seconds),
    }),
  );
  return { invocation, past };
}

function timeline(changes: Parameters<typeof step>[0], now: number) {
  const { invocation, past } = step(changes);
  const run = { createdAt: at(0), finishedAt: null };
  return timelineOf({ run, invocations: [invocation] }, past, at(now));
}

const inSeconds = ({ bars }: ReturnType<typeof timeline>) =>
  bars[0]?.segments.map(({ kind, from, to }) => [kind, (from - BEGIN) / 1_000, (to - BEGIN) / 1_000]);

test.each([
  { name: 'nothing, before it begins', changes: [], now: 10, segments: [] },
  {
    name: 'work, then the wait for a person until now',
    changes: [
      [1, 'running'],
      [30, 'waiting_approval'],
    ],
    now: 100,
    segments: [
      ['working', 1, 30],
      ['person', 30, 100],
    ],
  },
  {
    name: 'one wait, if it only looked whether it still has to wait',
    changes: [
      [0, 'running'],
      [20, 'waiting_ci'],
      [60, 'running'],
      [61, 'waiting_ci'],
      [90, 'completed'],
    ],
    now: 100,
    segments: [
      ['working', 0, 20],
      ['waiting', 20, 90],
    ],
  },
  {
    name: 'nothing between its end and its rerun',
    changes: [
      [0, 'running'],
      [20, 'completed'],
      [50, 'pending'],
      [55, 'running'],
      [70, 'failed'],
    ],
    now: 100,
    segments: [
      ['working', 0, 20],
      ['working', 55, 70],
    ],
  },
] as const)('the bar of a step shows $name', ({ changes, now, segments }) => {
  expect(inSeconds(timeline(changes, now))).toEqual(segments);
});

test('what came before the oldest known change is shown as not known', () => {
  const { invocation, past } = step([
    [0, 'running'],
    [40, 'waiting_ci'],
    [80, 'completed'],
  ]);
  const run = { createdAt: at(0), finishedAt: at(80) };
  const [bar] = timelineOf({ run, invocations: [invocation] }, past.slice(1), at(100)).bars;
  expect(bar?.segments.map(({ kind }) => kind)).toEqual(['unknown', 'waiting']);
});

test('a wait of a day between two pieces of work is drawn shorter, and said to be', () => {
  const { axis } = timeline(
    [
      [0, 'running'],
      [60, 'waiting_approval'],
      [86_460, 'running'],
    ],
    86_520,
  );
  expect(axis.map(({ compressed }) => compressed)).toEqual([false, true, false]);
  expect(axis[1]?.width).toBeLessThan(0.5);
});

test('segments never overlap, keep their time, and are in order on an axis from 0 to 1', () => {
  const changes = fc
    .array(
      fc.tuple(
        fc.integer({ min: 1, max: 100_000 }),
        fc.constantFrom<StepStatus>('running', 'waiting_ci', 'waiting_approval', 'pending', 'completed'),
      ),
      { maxLength: 120 },
    )
    .map((steps) => {
      let seconds = 0;
      return steps.map(([more, to]) => {
        seconds += more;
        return [seconds, to] as const;
      });
    });
  fc.assert(
    fc.property(changes, fc.integer({ min: 0, max: 100_000 }), (given, more) => {
      const made = timeline(given, (given.at(-1)?.[0] ?? 0) + more);
      const [bar] = made.bars;
      if (!bar) throw new Error('no bar');
      expect(bar.segments.length).toBeLessThanOrEqual(24);
      let end = made.from;
      for (const { from, to } of bar.segments) {
        expect(from).toBeGreaterThanOrEqual(end);
        expect(to).toBeGreaterThan(from);
        expect(position(made.axis, from)).toBeLessThanOrEqual(position(made.axis, to));
        end = to;
      }
      expect(end).toBeLessThanOrEqual(made.to);
      const spent = Object.values(totals(bar)).reduce((sum, ms) => sum + ms, 0);
      expect(spent).toBeLessThanOrEqual(made.to - made.from);
      expect(made.axis.reduce((sum, { width }) => sum + width, 0)).toBeCloseTo(made.to === made.from ? 0 : 1);
      expect(made.axis[0]?.from).toBe(made.from);
      expect(made.axis.at(-1)?.to).toBe(made.to);
    }),
  );
});
