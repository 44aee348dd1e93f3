import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/canonical.ts';
import { issueNumber } from '../../../src/engine/actions/target.ts';
import { stepContext } from '../../support/step-context.ts';

const of = (inputs: Record<string, Json>, run = {}) =>
  issueNumber(stepContext('id: say, action: gh-comment', { inputs, run }));

describe('the target of an action', () => {
  test.each<[string, Record<string, Json>]>([
    ['nothing', {}],
    ['its number', { pr: 7 }],
    ['its number as a text', { pr: '7' }],
    ['its number as an issue', { issue: 7 }],
    ['null', { pr: null }],
  ])('is the run’s own pull request when `with:` names %s', (_, inputs) => {
    expect(of(inputs)).toBe(7);
  });

  test.each<[string, Record<string, Json>]>([
    ['another pull request', { pr: 8 }],
    ['another one as a text', { pr: '8' }],
    ['another issue', { issue: 8 }],
    ['no number', { pr: 'seven' }],
    ['an empty text', { pr: '' }],
    ['a number followed by something else', { pr: '7; rm' }],
    ['a mapping', { pr: { number: 7 } }],
    ['several', { pr: [7, 8] }],
    ['another pull request beside its own issue', { pr: 8, issue: 7 }],
  ])('is undefined when `with:` names %s', (_, inputs) => {
    expect(of(inputs)).toBeUndefined();
  });

  test('is the issue of a run that an issue started', () => {
    const run = {
      pullRequest: null,
      facts: {
        trigger: { issue_number: 3 },
        repo: { full_name: 'acme/shop', owner: 'acme', name: 'shop', default_branch: 'main' },
      },
    };
    expect(of({}, run)).toBe(3);
    expect(of({ issue: 3 }, run)).toBe(3);
    expect(of({ pr: 7 }, run)).toBeUndefined();
  });

  test.each<[string, Record<string, Json>]>([
    ['nothing', {}],
    ['any pull request', { pr: 7 }],
  ])('is undefined for a run about neither, even if `with:` names %s', (_, inputs) => {
    expect(of(inputs, { pullRequest: null })).toBeUndefined();
  });
});
