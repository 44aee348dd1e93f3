import { expect, test } from 'vitest';
import { parseChain } from '../../../src/domain/chain/parse.ts';
import { KNOWN } from '../../support/chains.ts';

const parse = (trigger: string, step = '{ skill: ci }') =>
  parseChain(`name: a\ntrigger: ${trigger}\nsteps: [${step}]`, 'a.yaml', KNOWN);
const LABEL = '{ event: pr.labeled, filter: { label: deploy } }';
const CHECK = '{ event: ci.changed }';

test('a composite is kept with its parts, its time in milliseconds and its key', () => {
  expect(parse(`{ all_of: [${LABEL}, ${CHECK}], within: 24h, key: commit }`).chain?.trigger).toEqual({
    kind: 'all_of',
    parts: [
      { event: 'pr.labeled', filter: { label: ['deploy'] } },
      { event: 'ci.changed', filter: {} },
    ],
    withinMs: 86_400_000,
    key: 'commit',
  });
});

test.each([
  ['no parts', '{ all_of: [], within: 1h, key: commit }', '"all_of" must have at least 1 entry'],
  ['one part', `{ sequence: [${LABEL}], within: 1h, key: commit }`, '"sequence" needs two parts or more'],
  ['equal parts', `{ any_of: [${LABEL}, ${LABEL}], within: 1h, key: commit }`, 'the same as part 1'],
  ['no key', `{ any_of: [${LABEL}], within: 1h }`, '"key" is missing'],
  ['no time', `{ any_of: [${LABEL}], key: commit }`, '"within" is missing'],
  ['no length of time', `{ any_of: [${LABEL}], within: soon, key: commit }`, 'a length of time is a number'],
  ['a time that is too long', `{ any_of: [${LABEL}], within: 32d, key: commit }`, 'at most 31d'],
  ['a time that is too short', `{ any_of: [${LABEL}], within: 59s, key: commit }`, '"within" is at least 1m'],
  ['a foreign key', `{ any_of: [${LABEL}], within: 1h, key: comit }`, 'did you mean "commit"?'],
  [
    'a filter of its own',
    `{ any_of: [${LABEL}], within: 1h, key: commit, filter: {} }`,
    '"filter" goes with "event"',
  ],
  [
    'a key beside an event',
    '{ event: pr.opened, key: commit }',
    '"key" goes with "all_of", "any_of", "sequence"',
  ],
  ['two kinds', `{ any_of: [${LABEL}], all_of: [${LABEL}, ${CHECK}], within: 1h, key: commit }`, 'not both'],
  [
    'a nested composite',
    `{ any_of: [{ all_of: [${LABEL}] }], within: 1h, key: commit }`,
    'composites cannot be nested',
  ],
  [
    'a schedule',
    `{ any_of: [{ schedule: every 1h }], within: 1h, key: commit }`,
    'a schedule cannot be a part',
  ],
  [
    'a firing by hand',
    '{ any_of: [{ event: manual.fired }], within: 1h, key: repository }',
    'manual.fired cannot be a part',
  ],
  [
    'an unknown event',
    '{ any_of: [{ event: pr.open }], within: 1h, key: commit }',
    'did you mean "pr.opened"?',
  ],
  [
    'an unknown key',
    '{ any_of: [{ event: pr.opened, fliter: {} }], within: 1h, key: commit }',
    'unknown key "fliter"',
  ],
  [
    'a filter that says nothing',
    '{ any_of: [{ event: ci.changed, filter: { label: x } }], within: 1h, key: commit }',
    'the filter "label" says nothing about ci.changed',
  ],
  [
    'a part without a pull request',
    `{ all_of: [${LABEL}, { event: release.published }], within: 1h, key: pull_request }`,
    'release.published does not fit "key: pull_request": it belongs to no pull request; use "key: repository"',
  ],
  [
    'a part without a commit',
    `{ all_of: [${LABEL}, { event: issue.created }], within: 1h, key: commit }`,
    'it belongs to no commit',
  ],
  [
    'a push among parts of pull requests',
    `{ all_of: [${LABEL}, { event: file.changed }], within: 1h, key: commit }`,
    'the other parts belong to pull requests, and a push to none',
  ],
  [
    'a sequence that never ends',
    '{ sequence: [{ event: pr.merged }, { event: pr.closed }], within: 1h, key: pull_request }',
    'this sequence never ends: after pr.merged there is no pr.closed',
  ],
])('a composite with %s is an error', (_, trigger, message) => {
  expect(
    parse(trigger)
      .diagnostics.map((diagnostic) => diagnostic.message)
      .join('\n'),
  ).toContain(message);
});

test.each([
  ['pull_request', 'trigger.title'],
  ['commit', 'trigger.check'],
  ['commit', 'trigger.pr_number'],
  ['repository', 'trigger.label'],
  ['repository', 'trigger.parts'],
])('steps of a composite with the key %s can read %s', (key, member) => {
  const trigger = `{ all_of: [${LABEL}, ${CHECK}], within: 1h, key: ${key} }`;
  expect(parse(trigger, `{ skill: ci, condition: "{{ ${member} }}" }`).diagnostics).toEqual([]);
});

test('a member that no part has is an error', () => {
  const trigger = `{ all_of: [${LABEL}, ${CHECK}], within: 1h, key: commit }`;
  const { diagnostics } = parse(trigger, '{ skill: ci, condition: "{{ trigger.tag }}" }');
  expect(diagnostics[0]?.message).toContain('all_of has no "tag"');
});

test('steps that need a pull request fit composites that are about one', () => {
  const merge = '{ action: gh-merge, requires_approval: true }';
  const with_ = (key: string) =>
    parse(`{ all_of: [${CHECK}, { event: invocation.completed }], within: 1h, key: ${key} }`, merge);
  expect(with_('pull_request').diagnostics).toEqual([]);
});
