import { describe, expect, test } from 'vitest';
import type { CiCheck } from '../../../../src/domain/outcome/ci-result.ts';
import type { CiFacts, CiJudgement } from '../../../../src/skills/builtin/ci/judge.ts';
import { at, HEAD } from '../../../support/builders.ts';
import { ACTIONS, judge, OTHER_APP, OWN_APP, required, run, status } from './facts.ts';

/** `passed`, `failed`, `pending` or `none`, and the sentence for people. */
function verdict(judgement: CiJudgement): string {
  if (judgement.kind === 'pending') return `pending: ${judgement.summary}`;
  const { passed, summary } = judgement.result;
  return `${judgement.kind === 'none' ? 'none' : passed ? 'passed' : 'failed'}: ${summary}`;
}

function checksOf(judgement: CiJudgement): CiCheck[] {
  return judgement.kind === 'pending' ? judgement.checks : judgement.result.checks;
}

const names = (judgement: CiJudgement) => checksOf(judgement).map((check) => `${check.name} ${check.state}`);

describe('the checks of a head together', () => {
  test.each<[string, Partial<CiFacts>, string]>([
    ['no check', {}, 'none: no checks ran on this commit'],
    [
      'pass if the only one passed',
      { checkRuns: [run('build', 'success')] },
      'passed: the only check passed',
    ],
    [
      'pass if all passed, runs and statuses',
      { checkRuns: [run('build', 'success')], statuses: [status('lint', 'success')] },
      'passed: all 2 checks passed',
    ],
    [
      'pass if others are neutral and skipped',
      { checkRuns: [run('build', 'success'), run('docs', 'skipped'), run('size', 'neutral')] },
      'passed: all 3 checks passed',
    ],
    [
      'one failed',
      { checkRuns: [run('build', 'success'), run('test', 'failure')] },
      'failed: 1 of 2 checks failed: test',
    ],
    [
      'fail if the only one failed',
      { checkRuns: [run('test', 'failure')] },
      'failed: 1 of 1 check failed: test',
    ],
    [
      'fail if a status failed',
      { statuses: [status('lint', 'failure')] },
      'failed: 1 of 1 check failed: lint',
    ],
    [
      'fail if a status has an error',
      { statuses: [status('lint', 'error')] },
      'failed: 1 of 1 check failed: lint',
    ],
    [
      'are pending if one is running',
      { checkRuns: [run('build', 'in_progress')] },
      'pending: 0 of 1 checks are done',
    ],
    [
      'are pending if a status is pending',
      { checkRuns: [run('build', 'success')], statuses: [status('lint', 'pending')] },
      'pending: 1 of 2 checks are done',
    ],
    [
      'are pending if one failed and another is running, to have the complete result',
      { checkRuns: [run('build', 'failure'), run('test', 'queued')] },
      'pending: 1 of 2 checks are done',
    ],
    [
      'fail with a count if more failed than a sentence can name',
      { checkRuns: ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => run(name, 'failure')) },
      'failed: 7 of 7 checks failed: a, b, c, d, e and 2 more',
    ],
  ])('%s', (_, more, expected) => {
    expect(verdict(judge(more))).toBe(expected);
  });

  test.each([
    'failure',
    'timed_out',
    'cancelled',
    'action_required',
    'stale',
    'startup_failure',
    'a_word_that_is_new',
    'SUCCESS',
    null,
  ])('do not pass with the conclusion %s', (conclusion) => {
    expect(verdict(judge({ checkRuns: [run('build', conclusion)] }))).toMatch(/^failed: /);
  });

  test.each(['queued', 'in_progress', 'waiting', 'requested', 'pending', 'a_word_that_is_new'])(
    'are not done with the status %s, whatever the conclusion',
    (word) => {
      const unfinished = run('build', 'success', { status: word });
      expect(verdict(judge({ checkRuns: [unfinished] }))).toBe('pending: 0 of 1 checks are done');
      expect(names(judge({ checkRuns: [unfinished] }))).toEqual(['build pending']);
    },
  );

  test('have no verdict, and do not pass, if there are none', () => {
    const judgement = judge({});
    expect(judgement).toMatchObject({ kind: 'none', result: { passed: null, head_sha: HEAD, checks: [] } });
  });
});

describe('which checks count', () => {
  test('this app’s own do not', () => {
    const own = run('countersign / pr-review', 'in_progress', { appId: OWN_APP });
    expect(verdict(judge({ checkRuns: [own] }))).toMatch(/^none: /);
    expect(names(judge({ checkRuns: [own, run('build', 'success')] }))).toEqual(['build passed']);
  });

  test('those of another app that borrows this app’s name do', () => {
    const borrowed = run('countersign / pr-review', 'failure', { appId: OTHER_APP });
    expect(verdict(judge({ checkRuns: [borrowed] }))).toMatch(/^failed: /);
  });

  test('those of no known app do', () => {
    expect(verdict(judge({ checkRuns: [run('build', 'failure', { appId: null })] }))).toMatch(/^failed: /);
  });

  test('those that the settings ignore do not', () => {
    const more = {
      checkRuns: [run('flaky', 'failure'), run('build', 'success')],
      statuses: [status('coverage', 'failure')],
      required: [required('flaky')],
      ignore: ['flaky', 'coverage'],
    };
    expect(names(judge(more))).toEqual(['build passed']);
  });

  test.each([
    ['the green one is newer', 'failure', 'success', 'passed: the only check passed'],
    ['the red one is newer', 'success', 'failure', 'failed: 1 of 1 check failed: build'],
    ['the newer one is running', 'success', 'in_progress', 'pending: 0 of 1 checks are done'],
  ])('only the newest run of a check by one app does: %s', (_, older, newer, expected) => {
    const runs = [run('build', older), run('build', newer)];
    expect(verdict(judge({ checkRuns: runs }))).toBe(expected);
    expect(verdict(judge({ checkRuns: runs.toReversed() }))).toBe(expected);
  });

  test('a check with the same name by another app is another check', () => {
    const runs = [run('build', 'failure'), run('build', 'success', { appId: OTHER_APP })];
    expect(verdict(judge({ checkRuns: runs }))).toBe('failed: 1 of 2 checks failed: build');
  });

  test('a status with the same name as a check run is another check', () => {
    const more = { checkRuns: [run('build', 'success')], statuses: [status('build', 'failure')] };
    expect(verdict(judge(more))).toBe('failed: 1 of 2 checks failed: build');
  });
});

describe('a required check', () => {
  test.each<[string, Partial<CiFacts>, string]>([
    ['that nobody reported', { required: [required('e2e')] }, 'pending: 0 of 1 checks are done'],
    [
      'that nobody reported, beside a green one',
      { checkRuns: [run('build', 'success')], required: [required('e2e')] },
      'pending: 1 of 2 checks are done',
    ],
    [
      'that a check run reported',
      { checkRuns: [run('e2e', 'success')], required: [required('e2e')] },
      'passed: the only check passed',
    ],
    [
      'that a status reported',
      { statuses: [status('e2e', 'success')], required: [required('e2e')] },
      'passed: the only check passed',
    ],
    [
      'of one app that this app reported',
      { checkRuns: [run('e2e', 'success')], required: [required('e2e', ACTIONS)] },
      'passed: the only check passed',
    ],
    [
      'of one app that only another app reported',
      { checkRuns: [run('e2e', 'success', { appId: OTHER_APP })], required: [required('e2e', ACTIONS)] },
      'pending: 1 of 2 checks are done',
    ],
    [
      'of one app that only a status reported, which anybody can set',
      { statuses: [status('e2e', 'success')], required: [required('e2e', ACTIONS)] },
      'pending: 1 of 2 checks are done',
    ],
    [
      'that both the branch and the settings name counts once',
      { required: [required('e2e'), required('e2e')] },
      'pending: 0 of 1 checks are done',
    ],
    [
      'that the branch requires of one app and the settings of any counts once',
      { required: [required('e2e'), required('e2e', ACTIONS), required('e2e')] },
      'pending: 0 of 1 checks are done',
    ],
    [
      'that two apps must report counts twice',
      { required: [required('e2e', OTHER_APP), required('e2e', ACTIONS)] },
      'pending: 0 of 2 checks are done',
    ],
    [
      'that differs in case is missing',
      { checkRuns: [run('E2E', 'success')], required: [required('e2e')] },
      'pending: 1 of 2 checks are done',
    ],
  ])('%s', (_, more, expected) => {
    expect(verdict(judge(more))).toBe(expected);
  });

  test('that is missing is listed as missing', () => {
    expect(checksOf(judge({ required: [required('e2e')] }))).toEqual([
      {
        name: 'e2e',
        source: 'required',
        state: 'pending',
        conclusion: 'not reported yet',
        required: true,
        duration_ms: null,
        url: null,
      },
    ]);
  });

  test('is marked as required, and others are not', () => {
    const judgement = judge({
      checkRuns: [run('a', 'success'), run('b', 'success')],
      statuses: [status('c', 'success')],
      required: [required('a', ACTIONS), required('c')],
    });
    expect(checksOf(judgement).map((check) => check.required)).toEqual([true, false, true]);
  });

  test('of one app is not satisfied by another app’s, although the settings name it without an app', () => {
    const judgement = judge({
      checkRuns: [run('e2e', 'success', { appId: OTHER_APP })],
      required: [required('e2e', ACTIONS), required('e2e')],
    });
    expect(judgement.kind).toBe('pending');
  });

  test('of two apps with one name is satisfied only when both reported it', () => {
    const judgement = judge({
      checkRuns: [run('e2e', 'success')],
      required: [required('e2e', ACTIONS), required('e2e', OTHER_APP)],
    });
    expect(judgement.kind).toBe('pending');
  });

  test.each([
    ['with this app named', OWN_APP],
    ['with no app named', null],
  ])('that is this app’s own is not waited for, %s', (_, appId) => {
    const judgement = judge({
      checkRuns: [run('countersign / pr-review', 'in_progress', { appId: OWN_APP }), run('build', 'success')],
      required: [required('countersign / pr-review', appId)],
    });
    expect(judgement.kind).toBe('concluded');
  });

  test.each([
    ['red', 'failure', 'failed: 1 of 1 check failed: countersign / x'],
    ['at work', 'in_progress', 'pending: 0 of 1 checks are done'],
  ])(
    'that this app reported too does not hide another app’s of that name that is %s',
    (_, said, expected) => {
      const judgement = judge({
        checkRuns: [
          run('countersign / x', 'success', { appId: OWN_APP }),
          run('countersign / x', said, { appId: OTHER_APP }),
        ],
        required: [required('countersign / x')],
      });
      expect(verdict(judgement)).toBe(expected);
    },
  );

  test('of another app is not satisfied by this app’s own with that name', () => {
    const judgement = judge({
      checkRuns: [run('e2e', 'success', { appId: OWN_APP })],
      required: [required('e2e', ACTIONS)],
    });
    expect(verdict(judgement)).toBe('pending: 0 of 1 checks are done');
  });
});

describe('the result', () => {
  const passedBy = (checks: [string, string][]) => {
    const judgement = judge({ checkRuns: checks.map(([name, said]) => run(name, said)) });
    if (judgement.kind === 'pending') throw new Error('all checks are done');
    const { lint_passed, tests_passed, build_passed, typecheck_passed } = judgement.result;
    return { lint_passed, tests_passed, build_passed, typecheck_passed };
  };

  test('gives lint, tests, build and types the result of their checks, and nothing if there are none', () => {
    expect(
      passedBy([
        ['Lint', 'failure'],
        ['unit tests', 'success'],
        ['unit tests (windows)', 'failure'],
        ['type-check', 'success'],
        ['deploy', 'failure'],
      ]),
    ).toEqual({ lint_passed: false, tests_passed: false, build_passed: null, typecheck_passed: true });
  });

  test.each<[string, [string, string][], boolean | null]>([
    ['nothing about tests that were all skipped', [['unit tests', 'skipped']], null],
    ['nothing about tests that are all neutral', [['unit tests', 'neutral']], null],
    [
      'that tests passed if some did and others were skipped',
      [
        ['unit tests', 'success'],
        ['slow tests', 'skipped'],
      ],
      true,
    ],
  ])('says %s', (_, checks, expected) => {
    expect(passedBy(checks).tests_passed).toBe(expected);
  });

  test('names every failure with GitHub’s word for it', () => {
    const judgement = judge({ checkRuns: [run('b', 'timed_out'), run('a', null), run('c', 'success')] });
    expect(judgement).toMatchObject({ result: { failure_summary: 'a: unknown; b: timed_out' } });
  });

  test.each([
    ['as long as it took', at(0), at(90_000), 90_000],
    ['none if it has no start', null, at(90_000), null],
    ['none if it has no end', at(0), null, null],
    ['never negative', at(90_000), at(0), 0],
  ])('has a check’s duration: %s', (_, startedAt, completedAt, expected) => {
    const judgement = judge({ checkRuns: [run('build', 'success', { startedAt, completedAt })] });
    expect(checksOf(judgement)[0]?.duration_ms).toBe(expected);
  });

  test('lists checks by name, runs before statuses', () => {
    const judgement = judge({
      checkRuns: [run('b', 'success'), run('a', 'success')],
      statuses: [status('a', 'success')],
    });
    expect(checksOf(judgement).map((check) => `${check.name} ${check.source}`)).toEqual([
      'a check_run',
      'a status',
      'b check_run',
    ]);
  });
});
