import { describe, expect, it } from 'vitest';
import type { Actor } from '../../src/domain/run/actor.ts';
import type { PastTransition } from '../../src/domain/run/history.ts';
import { historyLineSchema, historyLines, historyText } from '../../src/messages/cli/history.ts';
import { at, makeState } from './builders.ts';

const state = makeState({ deliveryId: 41 });
const [review] = state.invocations;
const session = {
  id: 'ses_1',
  invocationId: review?.id ?? '',
  attempt: 2,
  status: 'failed',
  reason: null,
  contract: null,
  verification: null,
  startedAt: at('12:00'),
  finishedAt: null,
} as const;

function step(by: Actor | null, time: string): PastTransition {
  const subject = { kind: 'invocation', id: review?.id ?? '' } as const;
  return { subject, from: 'pending', to: 'running', reason: null, by, at: at(time) };
}

const past: PastTransition[] = [
  step(null, '12:00'),
  {
    subject: { kind: 'session', id: 'ses_1' },
    from: 'running',
    to: 'failed',
    reason: 'step.failed.error',
    by: { kind: 'session', id: 'ses_1' },
    at: at('12:01'),
  },
  step({ kind: 'time' }, '12:02'),
  step({ kind: 'person', login: 'mia\u001b[31m' }, '12:03'),
  step({ kind: 'event', event: 'ci.changed', delivery: null }, '12:04'),
  step({ kind: 'operator' }, '12:05'),
  step({ kind: 'app' }, '12:06'),
  {
    subject: { kind: 'run', id: state.run.id },
    from: 'running',
    to: 'completed',
    reason: 'run.completed',
    by: { kind: 'event', event: 'pr.updated', delivery: 42 },
    at: at('12:07'),
  },
];
const lines = historyLines(state, [session], past);

describe('the history of a run', () => {
  it('is a table of time, subject, change and actor', () => {
    expect(`\n${historyText(lines)}`).toMatchInlineSnapshot(`
      "
      History
      WHEN                      WHAT               CHANGE               REASON             BY
      2025-03-01T12:00:00.000Z  run                begins: running                         pr.opened (delivery 41)
      2025-03-01T12:00:00.000Z  review             pending → running                       not recorded
      2025-03-01T12:01:00.000Z  review, attempt 2  running → failed     step.failed.error  session ses_1
      2025-03-01T12:02:00.000Z  review             pending → running                       time
      2025-03-01T12:03:00.000Z  review             pending → running                       mia�[31m
      2025-03-01T12:04:00.000Z  review             pending → running                       ci.changed
      2025-03-01T12:05:00.000Z  review             pending → running                       an operator
      2025-03-01T12:06:00.000Z  review             pending → running                       Countersign itself
      2025-03-01T12:07:00.000Z  run                running → completed  run.completed      pr.updated (delivery 42)"
    `);
  });

  it('fits its schema', () => {
    const json: unknown[] = JSON.parse(JSON.stringify(lines));
    expect(json.map((line) => historyLineSchema.parse(line))).toEqual(lines);
    expect(json[0]).toEqual({
      at: '2025-03-01T12:00:00.000Z',
      what: 'run',
      id: 'run_01',
      step: null,
      attempt: null,
      from: null,
      to: 'running',
      reason_code: null,
      by: { kind: 'event', event: 'pr.opened', delivery: 41 },
    });
  });

  it('shows a session whose step it does not know by its id', () => {
    const strange = {
      ...step({ kind: 'time' }, '12:00'),
      subject: { kind: 'session', id: 'ses_9' },
    } as const;
    expect(historyText(historyLines(state, [], [strange]))).toContain('ses_9, attempt ?');
  });
});
