import { describe, expect, test } from 'vitest';
import { summaryOf, testCount } from '../../../../src/skills/builtin/ci/check-text.ts';
import { withinEffort } from '../../../support/effort.ts';
import { judge, OWN_APP, run, status } from './facts.ts';

describe('the number of tests in a check’s text', () => {
  test.each<[string, number | null]>([
    ['312 tests run, 310 passed', 312],
    ['Ran 42 tests in 3.1s', 42],
    ['1 test', 1],
    ['39 passed, 3 failed', 42],
    ['3 tests failed, 39 tests passed', 42],
    ['Tests: 2 failed, 40 passed, 42 total', 42],
    ['All 7 passed', 7],
    ['0 tests', 0],
    ['Test Files 12 passed, 120 tests', 120],
    ['39 passed in 2 suites, 42 total time 3 s', 39],
    ['5 tests failed', null],
    ['2 of 10 tests failed', null],
    ['12 test files', null],
    ['1,234 tests', null],
    ['version 1.42 tests', null],
    ['20260302 tests', null],
    ['-5 tests', null],
    ['½ tests, ٣ tests, 1e9 tests', null],
    ['all tests passed', null],
    ['', null],
  ])('is read from %j: %s', (title, count) => {
    expect(testCount({ title, summary: null })).toBe(count);
  });

  test('is read from the title before the summary', () => {
    expect(testCount({ title: 'All green', summary: '9 tests' })).toBe(9);
    expect(testCount({ title: '8 tests', summary: '9 tests' })).toBe(8);
  });

  test.each(['1'.repeat(2_000), '1 test '.repeat(300), '1 '.repeat(1_000), ' '.repeat(2_000)])(
    'takes little work for any text',
    (text) => {
      withinEffort(250, () => testCount({ title: text, summary: text }));
    },
  );
});

test('a check’s text becomes one short line without hidden characters', () => {
  expect(summaryOf({ title: 'Broken\u202E\u0000', summary: 'line\r\n\n  two' })).toBe('Broken: line two');
  expect(summaryOf({ title: null, summary: 'x'.repeat(400) })).toHaveLength(300);
  expect(summaryOf({ title: null, summary: ' \n' })).toBeUndefined();
});

test('a secret in a check’s text is hidden before the text is cut', () => {
  const secret = `ghp_${'aB3dE5gH7j'.repeat(4).slice(0, 36)}`;
  const words = summaryOf({ title: null, summary: `${'x '.repeat(140)}${secret}` });
  expect(words).not.toContain(secret.slice(0, 10));
});

test('the result adds up the tests of all checks that count, and quotes the red ones', () => {
  const judgement = judge({
    ignore: ['nightly'],
    checkRuns: [
      run('unit', 'failure', { title: '2 failed, 10 passed', summary: 'cart.test.ts: total is wrong' }),
      run('browser', 'success', { title: '5 tests', summary: null }),
      run('lint', 'timed_out'),
      run('nightly', 'success', { title: '900 tests' }),
      run('countersign / ship', 'success', { title: '800 tests', appId: OWN_APP }),
    ],
    statuses: [status('deploy', 'error', 'No room\n left'), status('docs', 'success', 'All is well')],
  });
  expect(judgement).toMatchObject({
    result: {
      test_count: 17,
      failure_summary:
        'deploy: error (No room left); lint: timed_out; unit: failure (2 failed, 10 passed: cart.test.ts: total is wrong)',
      commands: [],
    },
  });
});

test('a red check keeps its text, and others do not', () => {
  const judgement = judge({
    checkRuns: [
      run('unit', 'failure', { title: '2 failed' }),
      run('browser', 'success', { title: '5 tests' }),
    ],
    statuses: [status('deploy', 'error', 'No room left'), status('docs', 'success', 'All is well')],
  });
  const checks = judgement.kind === 'concluded' ? judgement.result.checks : [];
  expect(checks.map(({ name, said }) => [name, said])).toEqual(
    expect.arrayContaining([
      ['unit', '2 failed'],
      ['browser', undefined],
      ['deploy', 'No room left'],
      ['docs', undefined],
    ]),
  );
});

test('the summary of hundreds of red checks with long texts stays short', () => {
  const checkRuns = Array.from({ length: 300 }, (_, index) =>
    run(`check ${index}`, 'failure', { summary: 'x'.repeat(2_000) }),
  );
  const judgement = judge({ checkRuns });
  const summary = judgement.kind === 'concluded' ? (judgement.result.failure_summary ?? '') : '';
  expect(summary.length).toBeGreaterThan(1_000);
  expect(summary.length).toBeLessThanOrEqual(2_000);
});
