import { describe, expect, test } from 'vitest';
import { reason } from '../../../src/domain/explanation/reason.ts';
import type { Signal } from '../../../src/domain/run/transition.ts';
import { actionOutcome, chainOfSteps } from '../../support/builders.ts';
import { Player, reasonText } from './player.ts';

const closed = reason('run.cancelled.closed', 'the pull request was closed', [
  { kind: 'person', id: 'mia', label: 'mia' },
]);
const gone = reason('run.aborted.installation_gone', 'the app was removed', closed.evidence);
const linear = chainOfSteps('id: a', 'id: b', 'id: c');
const index = (play: Player, stepId: string) => play.step(stepId).stepIndex;
const rerun = (play: Player, stepId: string) => play.send({ kind: 'rerun', stepIndex: index(play, stepId) });

describe('ending a run from outside', () => {
  test.each([
    ['cancelled', closed],
    ['aborted', gone],
  ] as const)(
    'makes it %s, stops its sessions and skips the steps that have not started',
    (status, because) => {
      const play = Player.started(chainOfSteps('id: a', 'id: b, depends_on: []', 'id: c, depends_on: a'))
        .waits('b', 'approval', 60_000)
        .send({ kind: 'end', status, reason: because });
      expect(play.commands).toEqual(['abort ses_1', 'abort ses_2']);
      expect(play.steps).toBe('a cancelled, b cancelled, c skipped');
      expect(play.step('b').reason).toEqual({ ...because, code: 'step.cancelled' });
      expect(play.step('c').reason).toEqual({ ...because, code: 'step.skipped.run_ended' });
      expect(play.step('b').waitUntil).toBeNull();
      expect(play.run).toMatchObject({ status, reason: because });
      expect(play.run.finishedAt).not.toBeNull();
      expect(play.wakesAt).toBeUndefined();
    },
  );

  test('leaves steps that were over unchanged', () => {
    const play = Player.started(linear).done('a');
    const before = play.step('a');
    expect(play.send({ kind: 'end', status: 'cancelled', reason: closed }).step('a')).toEqual(before);
  });

  test('stops no session for a step between two attempts, because it has none', () => {
    const play = Player.started(chainOfSteps('id: a, retry: { attempts: 2, backoff: 1h }')).fails('a', {
      retryable: true,
    });
    expect(play.send({ kind: 'end', status: 'cancelled', reason: closed }).commands).toEqual([]);
  });
});

describe('a run that is over', () => {
  const overs: [string, () => Player][] = [
    ['completed', () => Player.started(chainOfSteps('id: a')).done('a')],
    ['failed', () => Player.started(linear).fails('a')],
    ['timed_out', () => Player.started(chainOfSteps('id: a, timeout: 1s', 'id: b')).after(1_000)],
    ['cancelled', () => Player.started(linear).send({ kind: 'end', status: 'cancelled', reason: closed })],
    ['aborted', () => Player.started(linear).send({ kind: 'end', status: 'aborted', reason: gone })],
  ];
  const signals: Signal[] = [
    { kind: 'start' },
    {
      kind: 'session',
      sessionId: 'ses_1',
      result: { kind: 'done', outcome: actionOutcome('gh-label', 'done'), artifactId: 'art_1' },
    },
    { kind: 'wake', for: ['ci', 'approval', 'until'] },
    { kind: 'time' },
    { kind: 'end', status: 'cancelled', reason: closed },
    { kind: 'pause' },
    { kind: 'resume' },
  ];

  test.each(
    overs.flatMap(([status, make]) => signals.map((signal) => ({ status, make, signal, kind: signal.kind }))),
  )('and is $status does not change on $kind', ({ status, make, signal }) => {
    const play = make();
    expect(play.run.status).toBe(status);
    const before = structuredClone(play.state);
    play.elapsedMs += 60_000;
    play.send(signal);
    expect(play.state).toEqual(before);
    expect(play.commands).toEqual([]);
  });

  test.each(overs.filter(([status]) => status === 'cancelled' || status === 'aborted'))(
    'and was %s cannot be run again',
    (_, make) => {
      const play = make();
      const before = structuredClone(play.state);
      play.elapsedMs += 60_000;
      rerun(play, 'a');
      expect(play.commands).toEqual([]);
      expect(play.state).toEqual(before);
    },
  );

  test.each([-1, 3, 1.5])(
    'does not change when asked to rerun step %s, which it does not have',
    (stepIndex) => {
      const play = Player.started(linear).done('a').done('b').done('c');
      const before = structuredClone(play.state);
      play.elapsedMs += 60_000;
      expect(play.send({ kind: 'rerun', stepIndex }).state).toEqual(before);
    },
  );
});

describe('rerunning a step', () => {
  const diamond = chainOfSteps(
    'id: top',
    'id: left, depends_on: top',
    'id: right, depends_on: top',
    'id: bottom, depends_on: [left, right]',
  );
  const completed = () => Player.started(diamond).done('top').done('left').done('right').done('bottom');

  test('for one file keeps the name of the outcome that the rest is in, and for all files forgets the file', () => {
    const play = completed();
    const rest = play.step('top').outcomeArtifactId;
    play.send({ kind: 'rerun', stepIndex: 0, file: 'src/a.ts' });
    expect(play.step('top')).toMatchObject({ outcome: null, oneFile: { path: 'src/a.ts', rest } });
    expect(rest).not.toBeNull();
    expect(play.step('left').oneFile).toBeNull();
    rerun(play, 'top');
    expect(play.step('top').oneFile).toBeNull();
  });

  test('starts it, resets its dependents, and leaves the rest unchanged', () => {
    const play = completed();
    const untouched = [play.step('top'), play.step('right')];
    rerun(play, 'left');
    expect(play.commands).toEqual(['start left']);
    expect(play.steps).toBe('top completed, left running, right completed, bottom pending');
    expect([play.step('top'), play.step('right')]).toEqual(untouched);
    expect(play.step('bottom')).toMatchObject({
      attempts: 0,
      sessionId: null,
      reason: null,
      outcome: null,
      outcomeArtifactId: null,
      startedAt: null,
      finishedAt: null,
    });
    expect(play.run).toMatchObject({ status: 'running', reason: null, finishedAt: null });
    expect(play.done('left').commands).toEqual(['start bottom']);
    expect(play.done('bottom').run.status).toBe('completed');
  });

  test('of a failed run continues what the failure prevented', () => {
    const play = Player.started(diamond).done('top').fails('left');
    expect(play.steps).toBe('top completed, left failed, right cancelled, bottom skipped');
    rerun(play, 'left');
    expect(play.commands).toEqual(['start left', 'start right']);
    expect(play.steps).toBe('top completed, left running, right running, bottom pending');
  });

  test('of a failed run has no effect unless the failed step itself is rerun', () => {
    const play = Player.started(chainOfSteps('id: a', 'id: b, depends_on: []', 'id: c, depends_on: []'))
      .done('b')
      .fails('a');
    rerun(play, 'b');
    expect(play.commands).toEqual([]);
    expect(play.steps).toBe('a failed, b skipped, c skipped');
    expect(play.run.status).toBe('failed');
  });

  test('gives it a new deadline and all its attempts', () => {
    const play = Player.started(chainOfSteps('id: a, timeout: 30s, retry: { attempts: 2 }')).after(30_000);
    play.elapsedMs = 100_000;
    rerun(play, 'a');
    expect(play.step('a')).toMatchObject({ status: 'running', attempts: 1 });
    expect(play.wakesAt).toBe(130_000);
    expect(play.fails('a', { retryable: true }).steps).toBe('a waiting_until');
  });

  test('while it is running stops its session, whose result is then rejected', () => {
    const play = Player.started(linear);
    rerun(play, 'a');
    expect(play.commands).toEqual(['abort ses_1', 'start a']);
    play.send({
      kind: 'session',
      sessionId: 'ses_1',
      result: { kind: 'done', outcome: actionOutcome('gh-label', 'late'), artifactId: 'art_1' },
    });
    expect(play.steps).toBe('a running, b pending, c pending');
  });

  test('stops a dependent that is running', () => {
    const play = Player.started(linear).done('a');
    rerun(play, 'a');
    expect(play.commands).toEqual(['abort ses_2', 'start a']);
    expect(play.steps).toBe('a running, b pending, c pending');
  });

  test('evaluates its condition again', () => {
    const chain = chainOfSteps(
      'id: a, on_failure: continue',
      `id: b, condition: "{{ steps.a.status == 'failed' }}"`,
    );
    const play = Player.started(chain).fails('a').done('b');
    rerun(play, 'a');
    expect(play.done('a').steps).toBe('a completed, b skipped');
  });

  test('that is still pending changes nothing', () => {
    const play = Player.started(linear);
    rerun(play, 'c');
    expect(play.commands).toEqual([]);
    expect(play.steps).toBe('a running, b pending, c pending');
  });
});

describe('pausing a run', () => {
  const paused = 'step.waiting.paused: the pull request is paused; `/countersign resume` goes on';

  test('lets running steps finish, and starts no new ones', () => {
    const play = Player.started(linear).send({ kind: 'pause' });
    expect(play.run).toMatchObject({ paused: true, status: 'running' });
    expect(reasonText(play.run.reason)).toBe(paused);
    expect(play.done('a').commands).toEqual([]);
    expect(play.steps).toBe('a completed, b pending, c pending');
    expect(play.run.status).toBe('waiting_until');
    expect(reasonText(play.run.reason)).toBe(paused);
  });

  test('before the start keeps every step from starting', () => {
    const play = Player.started(linear, { paused: true });
    expect(play.commands).toEqual([]);
    expect(play.run.status).toBe('waiting_until');
  });

  test('still skips steps whose condition is false, so the run can complete', () => {
    const play = Player.started(chainOfSteps('id: a', 'id: b, condition: "{{ false }}"')).send({
      kind: 'pause',
    });
    expect(play.done('a').steps).toBe('a completed, b skipped');
    expect(play.run.status).toBe('completed');
  });

  test('twice has the effect of once', () => {
    const play = Player.started(linear).send({ kind: 'pause' });
    const before = structuredClone(play.state);
    expect(play.send({ kind: 'pause' }).state).toEqual(before);
  });

  test('also delays a retry that is due', () => {
    const play = Player.started(chainOfSteps('id: a, retry: { attempts: 2, backoff: 10s }'))
      .fails('a', { retryable: true })
      .send({ kind: 'pause' })
      .after(10_000);
    expect(play.commands).toEqual([]);
    expect(play.steps).toBe('a pending');
    expect(play.send({ kind: 'resume' }).commands).toEqual(['start a']);
    expect(play.step('a').attempts).toBe(2);
  });
});

describe('resuming a run', () => {
  test('starts the steps that are ready', () => {
    const play = Player.started(linear).send({ kind: 'pause' }).done('a').send({ kind: 'resume' });
    expect(play.commands).toEqual(['start b']);
    expect(play.run).toMatchObject({ paused: false, status: 'running', reason: null });
  });

  test('polls for a countersign at once, and leaves other waits alone', () => {
    const play = Player.started(chainOfSteps('id: a', 'id: b, depends_on: []'))
      .waits('a', 'approval', 60_000, reason('step.waiting.approval', '0 of 1 countersigns given'))
      .waits('b', 'ci', 60_000)
      .send({ kind: 'pause' });
    expect(play.run.reason?.code).toBe('step.waiting.paused');
    expect(play.send({ kind: 'resume' }).commands).toEqual(['look a by event']);
    expect(reasonText(play.run.reason)).toBe('step.waiting.approval: 0 of 1 countersigns given');
  });
});
