import { describe, expect, test } from 'vitest';
import { actionOutcome, chainOfSteps, ciOutcome, reviewOutcome } from '../../support/builders.ts';
import { Player, reasonText } from './player.ts';

const linear = chainOfSteps('id: a', 'id: b', 'id: c');
const diamond = chainOfSteps(
  'id: top',
  'id: left, depends_on: top',
  'id: right, depends_on: top',
  'id: bottom, depends_on: [left, right]',
);

describe('the order of steps', () => {
  test('is sequential by default', () => {
    const play = Player.started(linear);
    expect(play.commands).toEqual(['start a']);
    expect(play.steps).toBe('a running, b pending, c pending');
    expect(play.done('a').commands).toEqual(['start b']);
    expect(play.done('b').commands).toEqual(['start c']);
    expect(play.done('c').steps).toBe('a completed, b completed, c completed');
    expect(reasonText(play.run.reason)).toBe('run.completed: every step is done');
    expect(play.run).toMatchObject({ status: 'completed', finishedAt: play.run.updatedAt });
  });

  test('runs the two sides of a diamond at once, and waits for both', () => {
    const play = Player.started(diamond).done('top');
    expect(play.commands).toEqual(['start left', 'start right']);
    expect(play.done('right').commands).toEqual([]);
    expect(play.steps).toBe('top completed, left running, right completed, bottom pending');
    expect(play.done('left').commands).toEqual(['start bottom']);
  });

  test('has at most four steps of a run running', () => {
    const wide = chainOfSteps(...['a', 'b', 'c', 'd', 'e', 'f'].map((id) => `id: ${id}, depends_on: []`));
    const play = Player.started(wide);
    expect(play.commands).toEqual(['start a', 'start b', 'start c', 'start d']);
    expect(play.done('c').commands).toEqual(['start e']);
    expect(play.fails('b', { retryable: false }).run.status).toBe('failed');
  });

  test.each([
    [1, ['start a']],
    [2, ['start a', 'start b']],
    [6, ['start a', 'start b', 'start c', 'start d', 'start e', 'start f']],
  ])('has as many steps running as its chain says: %i', (maxParallel, commands) => {
    const wide = chainOfSteps(...['a', 'b', 'c', 'd', 'e', 'f'].map((id) => `id: ${id}, depends_on: []`));
    const play = Player.started({ ...wide, maxParallel });
    expect(play.commands).toEqual(commands);
    expect(play.done('a').commands).toEqual(maxParallel === 6 ? [] : [`start ${'bcdef'[maxParallel - 1]}`]);
  });

  test('gives the slot of a waiting step to the next one, also in a chain that runs one step at once', () => {
    const wide = { ...chainOfSteps('id: a, depends_on: []', 'id: b, depends_on: []'), maxParallel: 1 };
    expect(Player.started(wide).waits('a', 'ci', 1_000).commands).toEqual(['start b']);
  });

  test('gives the slot of a waiting step to the next one', () => {
    const wide = chainOfSteps(...['a', 'b', 'c', 'd', 'e'].map((id) => `id: ${id}, depends_on: []`));
    expect(Player.started(wide).waits('a', 'ci', 1_000).commands).toEqual(['start e']);
  });

  test('starts no step twice when the run is started twice', () => {
    expect(Player.started(linear).send({ kind: 'start' }).commands).toEqual([]);
  });

  test('delays a retry while four other steps are running', () => {
    const wide = chainOfSteps(
      'id: a, depends_on: [], retry: { attempts: 2, backoff: 10s }',
      ...['b', 'c', 'd', 'e'].map((id) => `id: ${id}, depends_on: []`),
    );
    const play = Player.started(wide).fails('a', { retryable: true });
    expect(play.steps).toBe('a waiting_until, b running, c running, d running, e running');
    expect(play.after(10_000).steps).toBe('a pending, b running, c running, d running, e running');
    expect(play.done('c').commands).toEqual(['start a']);
  });
});

describe('a step that starts', () => {
  test('counts its attempt and stores its start and its deadline', () => {
    const step = Player.started(chainOfSteps('id: a, timeout: 30s')).step('a');
    expect(step).toMatchObject({ status: 'running', attempts: 1, reason: null, waitUntil: null });
    expect(Number(step.deadlineAt) - Number(step.startedAt)).toBe(30_000);
  });

  test('has no deadline unless the chain sets one', () => {
    expect(Player.started(linear).step('a').deadlineAt).toBeNull();
  });

  test('keeps its outcome, and its reason says what it found', () => {
    const outcome = reviewOutcome(true, 'no findings in 3 files');
    const step = Player.started(linear).done('a', outcome).step('a');
    expect(step).toMatchObject({ status: 'completed', outcome, outcomeArtifactId: 'art_a' });
    expect(reasonText(step.reason)).toBe('step.completed: no findings in 3 files');
    expect(step.finishedAt).not.toBeNull();
  });
});

describe('a condition', () => {
  const conditional = (condition: string) =>
    chainOfSteps('id: review, skill: pr-review', `id: next, condition: "${condition}"`);

  test.each([
    ['{{ steps.review.outcome.passed }}', true, 'next running'],
    ['{{ steps[0].outcome.passed }}', true, 'next running'],
    ['{{ steps.review.outcome.passed }}', false, 'next skipped'],
    ['{{ steps.review.outcome.passed }}', null, 'next skipped'],
    ['{{ not steps.review.outcome.passed }}', false, 'next running'],
    ['{{ not steps.review.outcome.passed }}', null, 'next skipped'],
    ["{{ steps.review.outcome.verdict == 'APPROVE' }}", true, 'next running'],
    ["{{ trigger.author == 'ada' }}", false, 'next running'],
    ["{{ trigger.author == 'otto' }}", true, 'next skipped'],
    ["{{ repo.default_branch == 'main' }}", true, 'next running'],
    ['{{ steps.review.outcome.summary }}', true, 'next skipped'],
  ] as const)('%s after a review that passed: %s gives %s', (condition, passed, expected) => {
    const play = Player.started(conditional(condition)).done('review', reviewOutcome(passed));
    expect(play.steps).toBe(`review completed, ${expected}`);
  });

  test('that is false is explained in the reason of the skipped step', () => {
    const play = Player.started(conditional('{{ steps.review.outcome.passed }}')).done(
      'review',
      reviewOutcome(false),
    );
    expect(reasonText(play.step('next').reason)).toBe('step.skipped.condition: the review did not pass');
    expect(play.step('next')).toMatchObject({ attempts: 0, startedAt: null });
    expect(play.run.status).toBe('completed');
  });

  test.each(['{{ steps.b.outcome.passed }}', '{{ not steps.b.outcome.passed }}'])(
    '%s is false when b was skipped',
    (condition) => {
      const play = Player.started(
        chainOfSteps('id: a', 'id: b, condition: "{{ false }}"', `id: c, condition: "${condition}"`),
      ).done('a');
      expect(play.steps).toBe('a completed, b skipped, c skipped');
    },
  );

  test.each(['{{ steps.a.outcome.passed }}', '{{ not steps.a.outcome.passed }}'])(
    '%s is false when a failed',
    (condition) => {
      const play = Player.started(
        chainOfSteps('id: a, on_failure: continue', `id: b, condition: "${condition}"`),
      ).fails('a');
      expect(play.steps).toBe('a failed, b skipped');
    },
  );

  test('can ask how a dependency ended', () => {
    const play = Player.started(
      chainOfSteps('id: a, on_failure: continue', `id: b, condition: "{{ steps.a.status == 'failed' }}"`),
    ).fails('a');
    expect(play.steps).toBe('a failed, b running');
  });

  test.each([
    ["{{ steps.b.status == 'skipped' }}", 'names it by id'],
    ["{{ steps[1].status == 'skipped' }}", 'names it by position'],
  ])('%s runs after b although b was skipped: it %s', (condition) => {
    const play = Player.started(
      chainOfSteps('id: a', 'id: b, condition: "{{ false }}"', `id: c, condition: "${condition}"`),
    ).done('a');
    expect(play.steps).toBe('a completed, b skipped, c running');
  });

  test.each([
    ['{{ trigger.pr_number == 7 }}', 'no step'],
    ["{{ steps.a.status == 'completed' }}", 'another step'],
    ["{{ steps[0].status == 'completed' }}", 'another step by position'],
  ])('%s does not run after b, which it depends on and which was skipped: it names %s', (condition) => {
    const play = Player.started(
      chainOfSteps(
        'id: a',
        'id: b, condition: "{{ false }}"',
        `id: c, depends_on: [a, b], condition: "${condition}"`,
      ),
    ).done('a');
    expect(play.steps).toBe('a completed, b skipped, c skipped');
    expect(reasonText(play.step('c').reason)).toBe(
      'step.skipped.dependency: b, which it depends on, was skipped',
    );
  });

  test.each(['{{ trigger.pr_number == 7 }}', "{{ steps.a.status == 'completed' }}"])(
    'of a step without depends_on decides alone, although the step before was skipped: %s',
    (condition) => {
      const play = Player.started(
        chainOfSteps('id: a', 'id: b, condition: "{{ false }}"', `id: c, condition: "${condition}"`),
      ).done('a');
      expect(play.steps).toBe('a completed, b skipped, c running');
    },
  );

  test('of a step without depends_on waits for the step before', () => {
    const play = Player.started(chainOfSteps('id: a', 'id: b, condition: "{{ trigger.pr_number == 7 }}"'));
    expect(play.steps).toBe('a running, b pending');
  });

  test('need not name a dependency that is allowed to fail and did', () => {
    const play = Player.started(
      chainOfSteps('id: a, on_failure: continue', 'id: b, condition: "{{ trigger.pr_number == 7 }}"'),
    ).fails('a');
    expect(play.steps).toBe('a failed, b running');
  });

  test.each([
    ['allow', 'merge running'],
    ['block', 'merge skipped'],
  ] as const)('on a head without checks follows the setting no_checks: %s', (no_checks, expected) => {
    const chain = chainOfSteps('id: ci', 'id: merge, skill: ci, condition: "{{ steps.ci.outcome.passed }}"');
    const play = new Player(chain);
    play.run.settings.ci.no_checks = no_checks;
    play.send({ kind: 'start' }).done('ci', ciOutcome(null, 'no checks ran on this commit'));
    expect(play.steps).toBe(`ci completed, ${expected}`);
    expect(play.step('ci').outcome?.passed).toBeNull();
  });
});

describe('the setting for heads without checks', () => {
  const chain = chainOfSteps('id: ci', 'id: merge, skill: ci, condition: "{{ steps.ci.outcome.passed }}"');

  test.each([
    ['failed', ciOutcome(false, 'CI broke before any check', [])],
    ['has no passed check among its checks', { ...ciOutcome(true), passed: null }],
  ])('does not help a CI result that %s', (_, outcome) => {
    expect(Player.started(chain).done('ci', outcome).steps).toBe('ci completed, merge skipped');
  });
});

describe('a step without a condition', () => {
  test('is skipped when a dependency was skipped, and its reason names it', () => {
    const play = Player.started(
      chainOfSteps('id: a', 'id: b, condition: "{{ false }}"', 'id: c', 'id: d'),
    ).done('a');
    expect(play.steps).toBe('a completed, b skipped, c skipped, d skipped');
    expect(reasonText(play.step('c').reason)).toBe(
      'step.skipped.dependency: b, which it depends on, was skipped',
    );
    expect(play.step('d').reason?.evidence).toEqual([{ kind: 'step', id: 'inv_3', label: 'c' }]);
  });

  test('runs after a dependency with a negative outcome, because that is not a failure', () => {
    const play = Player.started(linear).done('a', actionOutcome('gh-label', 'nothing to label', false));
    expect(play.commands).toEqual(['start b']);
  });
});

describe('a step that fails', () => {
  test('fails the run and skips the rest, each with its reason', () => {
    const play = Player.started(diamond).done('top').fails('left', { because: 'no such label' });
    expect(play.steps).toBe('top completed, left failed, right cancelled, bottom skipped');
    expect(play.commands).toEqual(['abort ses_3']);
    expect(reasonText(play.step('left').reason)).toBe('step.failed.error: no such label');
    expect(reasonText(play.step('right').reason)).toBe('step.cancelled: left failed before it');
    expect(reasonText(play.step('bottom').reason)).toBe('step.skipped.run_ended: left failed before it');
    expect(play.run.status).toBe('failed');
    expect(reasonText(play.run.reason)).toBe('run.failed.step: left: no such label');
    expect(play.run.reason?.evidence).toEqual([{ kind: 'step', id: 'inv_2', label: 'left' }]);
  });

  test('lets the run continue with on_failure: continue', () => {
    const play = Player.started(chainOfSteps('id: a, on_failure: continue', 'id: b')).fails('a');
    expect(play.steps).toBe('a failed, b running');
    expect(play.done('b').run.status).toBe('completed');
  });

  test('fails the run although another failure was tolerated before', () => {
    const play = Player.started(chainOfSteps('id: a, on_failure: continue', 'id: b', 'id: c'))
      .fails('a')
      .fails('b', { because: 'no disk' });
    expect(reasonText(play.run.reason)).toBe('run.failed.step: b: no disk');
  });
});

describe('the report of a session', () => {
  test('changes nothing when no step has that session', () => {
    const play = Player.started(linear);
    const before = structuredClone(play.state);
    play.send({
      kind: 'session',
      sessionId: 'ses_of_another_run',
      result: { kind: 'done', outcome: reviewOutcome(true), artifactId: 'art_1' },
    });
    expect(play.state).toEqual(before);
    expect(play.commands).toEqual([]);
  });

  test('counts once: a second, different result of the same session is rejected', () => {
    const play = Player.started(linear).done('a');
    const before = structuredClone(play.state);
    play.fails('a');
    expect(play.state).toEqual(before);
  });

  test('is rejected when it comes from an attempt that a retry has replaced', () => {
    const play = Player.started(chainOfSteps('id: a, retry: { attempts: 2, backoff: 1s }'))
      .fails('a', { retryable: true })
      .after(1_000);
    play.send({
      kind: 'session',
      sessionId: 'ses_1',
      result: { kind: 'done', outcome: reviewOutcome(true), artifactId: 'art_1' },
    });
    expect(play.steps).toBe('a running');
    expect(play.step('a')).toMatchObject({ outcome: null, sessionId: 'ses_2' });
  });

  test('is rejected after the step has timed out', () => {
    const play = Player.started(chainOfSteps('id: a, timeout: 1s, on_failure: continue', 'id: b')).after(
      1_000,
    );
    play.done('a');
    expect(play.step('a')).toMatchObject({ status: 'timed_out', outcome: null });
  });

  test('leaves the time of the last change unchanged when it is rejected', () => {
    const play = Player.started(linear).done('a');
    const { updatedAt } = play.run;
    play.elapsedMs += 5_000;
    expect(play.done('a').run.updatedAt).toEqual(updatedAt);
  });
});

describe('a step whose outcome was judged again', () => {
  const chain = chainOfSteps(
    'id: review',
    'id: ship, condition: "{{ steps.review.outcome.passed }}"',
    'id: tell, depends_on: [review], condition: "{{ not steps.review.outcome.passed }}"',
  );
  const judged = {
    kind: 'judged',
    stepIndex: 0,
    outcome: reviewOutcome(true),
    artifactId: 'art_new',
  } as const;

  test('lets the steps begin that were skipped because of it, and leaves those alone that ran', () => {
    const play = Player.started(chain).done('review', reviewOutcome(false)).done('tell');
    expect(play.run.status).toBe('completed');
    play.send(judged);
    expect(play.commands).toEqual(['start ship']);
    expect(play.steps).toBe('review completed, ship running, tell completed');
    expect(play.run).toMatchObject({ status: 'running', finishedAt: null, reason: null });
    expect(play.step('review')).toMatchObject({ outcome: { passed: true }, outcomeArtifactId: 'art_new' });
  });

  test('changes no other step if the outcome still does not pass', () => {
    const play = Player.started(chain).done('review', reviewOutcome(false)).done('tell');
    play.send({ ...judged, outcome: reviewOutcome(false, 'less is left') });
    expect(play.steps).toBe('review completed, ship skipped, tell completed');
    expect(play.run.status).toBe('completed');
    expect(play.step('review').outcome?.summary).toBe('less is left');
  });

  test('lets a step that waits for an answer look again', () => {
    const play = Player.started(chain).done('review', reviewOutcome(true)).waits('ship', 'approval', 1_000);
    play.send({ ...judged, outcome: reviewOutcome(true, 'nothing is left') });
    expect(play.commands).toEqual(['look ship by event']);
  });

  test.each([
    ['that has not ended', () => Player.started(chain)],
    [
      'of a run that was cancelled',
      () =>
        Player.started(chain)
          .done('review', reviewOutcome(false))
          .send({
            kind: 'end',
            status: 'cancelled',
            reason: { code: 'run.cancelled.by_person', summary: 'x', evidence: [] },
          }),
    ],
  ])('stays as it is if it is one %s', (_, played) => {
    const play = played();
    const before = play.state;
    play.send(judged);
    expect(play.commands).toEqual([]);
    expect(play.state).toEqual(before);
  });
});
