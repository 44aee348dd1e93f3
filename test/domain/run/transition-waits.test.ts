import { describe, expect, test } from 'vitest';
import { reason } from '../../../src/domain/explanation/reason.ts';
import { chainOfSteps } from '../../support/builders.ts';
import { Player, reasonText } from './player.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('a step that fails and has attempts left', () => {
  test('waits, says which attempt failed and why, and starts again with a new session', () => {
    const play = Player.started(chainOfSteps('id: a, retry: { attempts: 3, backoff: 10s }')).fails('a', {
      retryable: true,
      because: 'GitHub did not answer',
    });
    expect(play.step('a')).toMatchObject({ status: 'waiting_until', sessionId: null, finishedAt: null });
    expect(reasonText(play.step('a').reason)).toBe(
      'step.waiting.retry: attempt 1 of 3 failed (GitHub did not answer); trying again',
    );
    expect(play.run.status).toBe('waiting_until');
    expect(play.wakesAt).toBe(10_000);
    expect(play.after(9_999).commands).toEqual([]);
    expect(play.after(1).commands).toEqual(['start a']);
    expect(play.step('a')).toMatchObject({
      status: 'running',
      attempts: 2,
      sessionId: 'ses_2',
      waitUntil: null,
    });
  });

  test.each([
    ['10s', [10_000, 20_000, 40_000, 80_000]],
    ['8h', [8 * HOUR, 16 * HOUR, DAY, DAY]],
    ['1d', [DAY, DAY, DAY, DAY]],
  ])('doubles its wait for each retry from %s on, up to a day', (backoff, expected) => {
    const play = Player.started(chainOfSteps(`id: a, retry: { attempts: 5, backoff: ${backoff} }`));
    const waits = expected.map(() => {
      play.fails('a', { retryable: true });
      const wait = (play.wakesAt ?? 0) - play.elapsedMs;
      play.after(wait);
      return wait;
    });
    expect(waits).toEqual(expected);
  });

  test('keeps the time of its first start', () => {
    const play = Player.started(chainOfSteps('id: a, retry: { attempts: 2, backoff: 10s }'));
    const { startedAt } = play.step('a');
    expect(play.fails('a', { retryable: true }).after(10_000).step('a').startedAt).toEqual(startedAt);
  });

  test('starts again at once without a backoff', () => {
    const play = Player.started(chainOfSteps('id: a, retry: { attempts: 2 }')).fails('a', {
      retryable: true,
    });
    expect(play.wakesAt).toBe(0);
    expect(play.after(0).commands).toEqual(['start a']);
  });

  test('fails for good after its last attempt, with the reason of that attempt', () => {
    const play = Player.started(chainOfSteps('id: a, retry: { attempts: 2 }'))
      .fails('a', { retryable: true, because: 'first' })
      .after(0)
      .fails('a', { retryable: true, because: 'second' });
    expect(play.run.status).toBe('failed');
    expect(reasonText(play.run.reason)).toBe('run.failed.step: a: second');
  });

  test.each([
    ['its failure is permanent', 'retry: { attempts: 3 }', false],
    ['the chain allows one attempt', 'retry: { attempts: 1 }', true],
    ['the chain says nothing about it', 'timeout: 1h', true],
  ])('is not retried when %s', (_, keys, retryable) => {
    const play = Player.started(chainOfSteps(`id: a, ${keys}`)).fails('a', { retryable });
    expect(play.steps).toBe('a failed');
  });

  test('starts by time only, and not when woken', () => {
    const play = Player.started(chainOfSteps('id: a, retry: { attempts: 2, backoff: 10s }')).fails('a', {
      retryable: true,
    });
    expect(play.send({ kind: 'wake', for: ['until', 'ci', 'approval'] }).commands).toEqual([]);
  });
});

describe('a timeout', () => {
  test('ends the step and the run, and stops the session', () => {
    const play = Player.started(chainOfSteps('id: a, timeout: 30s', 'id: b'));
    expect(play.wakesAt).toBe(30_000);
    expect(play.after(29_999).steps).toBe('a running, b pending');
    expect(play.after(1).commands).toEqual(['abort ses_1']);
    expect(play.steps).toBe('a timed_out, b skipped');
    expect(reasonText(play.step('a').reason)).toBe('step.timed_out: a took longer than it may');
    expect(reasonText(play.step('b').reason)).toBe('step.skipped.run_ended: a timed out before it');
    expect(play.run.status).toBe('timed_out');
    expect(reasonText(play.run.reason)).toBe('run.timed_out.step: a: a took longer than it may');
  });

  test('lets the run continue with on_failure: continue', () => {
    const play = Player.started(chainOfSteps('id: a, timeout: 30s, on_failure: continue', 'id: b'));
    expect(play.after(30_000).steps).toBe('a timed_out, b running');
    expect(play.commands).toEqual(['abort ses_1', 'start b']);
  });

  test('keeps counting while the step waits', () => {
    const play = Player.started(chainOfSteps('id: a, timeout: 30s')).waits('a', 'approval', 60_000);
    expect(play.wakesAt).toBe(30_000);
    expect(play.after(30_000).commands).toEqual(['abort ses_1']);
    expect(play.steps).toBe('a timed_out');
  });

  test('counts from the first start, across retries', () => {
    const play = Player.started(chainOfSteps('id: a, timeout: 30s, retry: { attempts: 3, backoff: 20s }'))
      .fails('a', { retryable: true })
      .after(20_000);
    expect(play.steps).toBe('a running');
    expect(play.after(10_000).steps).toBe('a timed_out');
  });

  test('ends a step between two attempts without stopping a session', () => {
    const play = Player.started(chainOfSteps('id: a, timeout: 30s, retry: { attempts: 3, backoff: 1h }'))
      .fails('a', { retryable: true })
      .after(30_000);
    expect(play.steps).toBe('a timed_out');
    expect(play.commands).toEqual([]);
  });
});

describe('a step that waits', () => {
  test.each(['ci', 'approval', 'until'] as const)('for %s makes the run wait for it', (what) => {
    const because = reason('step.waiting.ci', '2 of 3 checks are done');
    const play = Player.started(chainOfSteps('id: a')).waits('a', what, 60_000, because);
    expect(play.steps).toBe(`a waiting_${what}`);
    expect(play.run).toMatchObject({ status: `waiting_${what}`, reason: because, finishedAt: null });
    expect(play.wakesAt).toBe(60_000);
  });

  test('polls again with the same session when its time has come', () => {
    const play = Player.started(chainOfSteps('id: a')).waits('a', 'ci', 60_000);
    expect(play.after(59_999).commands).toEqual([]);
    expect(play.after(1).commands).toEqual(['look a by time']);
    expect(play.step('a')).toMatchObject({ attempts: 1, sessionId: 'ses_1' });
    expect(play.waits('a', 'ci', 30_000).wakesAt).toBe(90_000);
  });

  test('is not woken again while its poll is running', () => {
    const play = Player.started(chainOfSteps('id: a')).waits('a', 'ci', 60_000).after(60_000);
    expect(play.wakesAt ?? Number.POSITIVE_INFINITY).toBeGreaterThan(60_000);
  });

  test.each([
    ['ci', ['ci'], ['look a by event']],
    ['ci', ['approval'], []],
    ['ci', ['approval', 'ci'], ['look a by event']],
    ['approval', ['approval'], ['look a by event']],
    ['approval', [], []],
    ['until', ['until'], ['look a by event']],
  ] as const)('for %s responds to being woken for %j with %j', (what, wokenFor, expected) => {
    const play = Player.started(chainOfSteps('id: a')).waits('a', what, 60_000);
    expect(play.send({ kind: 'wake', for: wokenFor }).commands).toEqual(expected);
    expect(play.steps).toBe(`a waiting_${what}`);
  });

  test('can then wait for something else, and then complete', () => {
    const play = Player.started(chainOfSteps('id: a', 'id: b'))
      .waits('a', 'ci', 60_000)
      .waits('a', 'approval', 60_000);
    expect(play.steps).toBe('a waiting_approval, b pending');
    expect(play.done('a').commands).toEqual(['start b']);
    expect(play.step('a').waitUntil).toBeNull();
  });

  test('does not delay steps that do not depend on it', () => {
    const play = Player.started(chainOfSteps('id: a', 'id: b, depends_on: []', 'id: c, depends_on: b'));
    expect(play.waits('a', 'ci', 60_000).done('b').commands).toEqual(['start c']);
  });

  test('is looked at again if checks change while it is running, because it may have read them before', () => {
    const play = Player.started(chainOfSteps('id: a'));
    expect(play.send({ kind: 'wake', for: ['approval', 'until'] }).commands).toEqual([]);
    expect(play.send({ kind: 'wake', for: ['ci', 'approval', 'until'] }).commands).toEqual([
      'look a by event',
    ]);
  });
});

describe('at the same moment', () => {
  test('a retry is not started when another step’s timeout ends the run', () => {
    const play = Player.started(
      chainOfSteps('id: a, retry: { attempts: 2, backoff: 10s }', 'id: b, depends_on: [], timeout: 10s'),
    ).fails('a', { retryable: true });
    expect(play.after(10_000).steps).toBe('a skipped, b timed_out');
    expect(reasonText(play.step('a').reason)).toBe('step.skipped.run_ended: b timed out before it');
    expect(play.commands).toEqual(['abort ses_2']);
  });

  test('a waiting step is not polled when another step’s timeout ends the run', () => {
    const play = Player.started(chainOfSteps('id: a', 'id: b, depends_on: [], timeout: 10s')).waits(
      'a',
      'ci',
      10_000,
    );
    expect(play.after(10_000).commands).toEqual(['abort ses_2', 'abort ses_1']);
  });
});

describe('the status of a run', () => {
  const three = chainOfSteps('id: a, depends_on: []', 'id: b, depends_on: []', 'id: c, depends_on: []');

  test('is running while any step is running', () => {
    const play = Player.started(three).waits('a', 'approval', 1_000).waits('b', 'ci', 1_000);
    expect(play.run).toMatchObject({ status: 'running', reason: null });
  });

  test('is a wait for people before a wait for CI, and that before a wait for time', () => {
    const play = Player.started(three).waits('a', 'until', 1_000).waits('b', 'ci', 1_000);
    play.waits('c', 'approval', 1_000, reason('step.waiting.approval', '0 of 1 countersigns given'));
    expect(play.run.status).toBe('waiting_approval');
    expect(reasonText(play.run.reason)).toBe('step.waiting.approval: 0 of 1 countersigns given');
    expect(play.done('c').run.status).toBe('waiting_ci');
    expect(play.done('b').run.status).toBe('waiting_until');
  });
});

describe('the next wake', () => {
  test('is the earliest wait or deadline of the unfinished steps', () => {
    const play = Player.started(
      chainOfSteps('id: a, depends_on: [], timeout: 50s', 'id: b, depends_on: []', 'id: c, depends_on: []'),
    );
    play.waits('b', 'ci', 40_000).waits('c', 'approval', 30_000);
    expect(play.wakesAt).toBe(30_000);
    expect(play.done('c').wakesAt).toBe(40_000);
    expect(play.done('b').wakesAt).toBe(50_000);
    expect(play.done('a').wakesAt).toBeUndefined();
  });

  test('is not set while a step without a timeout is running', () => {
    expect(Player.started(chainOfSteps('id: a')).wakesAt).toBeUndefined();
  });
});
