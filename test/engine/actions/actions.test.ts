import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Json } from '../../../src/core/canonical.ts';
import { ACTIONS } from '../../../src/engine/actions/actions.ts';
import { brokenInputs } from '../../../src/engine/actions/inputs.ts';
import { stepContext } from '../../support/step-context.ts';

const granted: Record<string, string> = parse(
  readFileSync(new URL('../../../app.yml', import.meta.url), 'utf8'),
).default_permissions;

const problemOf = (name: keyof typeof ACTIONS, inputs: Record<string, Json>) =>
  brokenInputs(ACTIONS[name], stepContext('id: act, action: gh-merge, requires_approval: true', { inputs }))
    ?.summary;

describe('the inputs of an action, when a step runs', () => {
  test.each<[keyof typeof ACTIONS, Record<string, Json>]>([
    ['gh-merge', {}],
    ['gh-merge', { method: 'rebase', pr: 7 }],
    ['gh-merge', { method: null }],
    ['gh-merge', { metod: 'rebase' }],
    ['gh-comment', { body: ['a'] }],
    ['gh-comment', { body: 7, pr: '7' }],
    ['gh-label', { labels: 'one' }],
  ])('of %s can be %j', (name, inputs) => {
    expect(problemOf(name, inputs)).toBeUndefined();
  });

  test.each<[keyof typeof ACTIONS, Record<string, Json>, string]>([
    ['gh-merge', { method: 'sqash' }, '"method" cannot be "sqash": did you mean "squash"?'],
    ['gh-merge', { pr: 8 }, '"pr" is the number of the run’s own pull request'],
    ['gh-comment', { issue: 8, body: 'Hi' }, '"issue" is the number of the run’s own pull request'],
    ['gh-comment', { body: null }, '"body" is missing'],
    ['gh-label', { labels: [] }, '"labels" must have at least 1 entry'],
    [
      'gh-status',
      { state: 'success', context: 'Countersign: main' },
      '"context" cannot begin with "countersign"',
    ],
    ['gh-status', { state: 'success', context: ' countersign / review' }, '"context" cannot begin with'],
    [
      'gh-status',
      { state: 'success', context: 'сountersign: main' },
      '"context" has only characters of ASCII',
    ],
    ['gh-status', { state: 'ok', context: 'ci' }, '"state" cannot be "ok"'],
    ['gh-release', { tag: 'v1..2' }, 'a tag has only letters'],
    ['gh-backport', { branches: ['$(id)'] }, 'a branch to backport to has only letters'],
    ['gh-label', { labels: { a: 1 } }, 'entry 1 of "labels" must be a text, not a mapping'],
  ])('of %s cannot be %j', (name, inputs, because) => {
    expect(problemOf(name, inputs)).toMatch(new RegExp(`^${name} cannot run with its inputs: `));
    expect(problemOf(name, inputs)).toContain(because);
  });
});

test.each(Object.values(ACTIONS))('$name has permissions that app.yml grants', ({ permissions }) => {
  for (const permission of permissions) {
    const [key = '', level] = permission.split(': ');
    expect([level, 'write']).toContain(granted[key]);
  }
});
