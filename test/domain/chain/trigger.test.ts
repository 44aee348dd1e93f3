import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../src/core/diagnostic.ts';
import { chainWarnings } from '../../../src/domain/chain/parse.ts';
import { readYaml } from '../../../src/domain/chain/positions.ts';
import { explainTriggers, type TriggerFacts, triggerMatches } from '../../../src/domain/chain/trigger.ts';
import { chainOf, errorsOf, KNOWN } from '../../support/chains.ts';

const repository = { full_name: 'acme/app', default_branch: 'trunk' };
const pullRequest = {
  number: 7,
  base: 'trunk',
  head: 'feature/x',
  draft: false,
  author: 'Octocat',
  labels: ['Bug', 'area/api'],
  association: 'MEMBER',
  title: 'feat: greet',
  body: 'Closes #12',
  changed_paths: ['src/a.ts', 'README.md'],
};
const opened: TriggerFacts = { event: 'pr.opened', repository, pull_request: pullRequest };

function triggered(event: string, filter: string, facts: TriggerFacts) {
  const step = event.startsWith('issue.') ? 'action: gh-label, with: {labels: [x]}' : 'skill: ci';
  return triggerMatches(
    chainOf(`name: example\ntrigger: {event: ${event}, filter: ${filter}}\nsteps: [{${step}}]`),
    facts,
  );
}

describe('a trigger fires', () => {
  test.each([
    ['{}'],
    ['{base: trunk}'],
    ['{base: "{{ repo.default_branch }}"}'],
    ['{base: ["release/*", "{{ repo.default_branch }}"]}'],
    ['{head: "feature/**"}'],
    ['{draft: false}'],
    ['{author: octocat}'],
    ['{labels: [docs, bug]}'],
    ['{labels: "area/*"}'],
    ['{labels: {any: [docs, bug], all: ["area/*", bug], none: [wip]}}'],
    ['{association: [OWNER, MEMBER]}'],
    ['{paths_ignore: "*.md"}'],
    ['{paths: ["src/**", "!src/b.ts"]}'],
    ['{title: "^feat[(:]"}'],
    ['{body: "(?i)closes #\\\\d+"}'],
    ['{repository: "ap*"}'],
    ['{repository: ["acme/*", "!acme/other"]}'],
    ['{base: "{trunk,main}"}'],
    ['{base: "!release/*"}'],
    ['{paths: "src/**"}'],
    ['{base: trunk, draft: false, author: "octo*", labels: bug, paths: "*.md"}'],
  ])('with the filter %s', (filter) => {
    expect(triggered('pr.opened', filter, opened)).toEqual({ matches: true });
  });

  test('for an update if it names pr.opened or pr.updated, but for an opening only if it names pr.opened', () => {
    const updated = { ...opened, event: 'pr.updated' };
    expect(triggered('pr.opened', '{}', updated).matches).toBe(true);
    expect(triggered('pr.updated', '{}', updated).matches).toBe(true);
    expect(triggered('pr.updated', '{}', opened).matches).toBe(false);
  });

  test('on a push that matches its branch and paths', () => {
    const push = { branch: 'trunk', author: 'octocat', changed_paths: ['docs/a.md'] };
    const facts: TriggerFacts = { event: 'file.changed', repository, push };
    expect(triggered('file.changed', '{base: trunk, paths: "docs/**"}', facts).matches).toBe(true);
    expect(triggered('file.changed', '{base: other}', facts).matches).toBe(false);
  });

  test('on an issue that matches its author and labels', () => {
    const facts: TriggerFacts = {
      event: 'issue.created',
      repository,
      issue: { number: 1, author: 'octocat', labels: ['bug'] },
    };
    expect(triggered('issue.created', '{labels: bug, author: octocat}', facts).matches).toBe(true);
    expect(triggered('issue.created', '{labels: docs}', facts).matches).toBe(false);
  });

  test('by hand only if a person names its chain', () => {
    const facts = (chain: string): TriggerFacts => ({ event: 'manual.fired', repository, manual: { chain } });
    expect(triggered('manual.fired', '{}', facts('example')).matches).toBe(true);
    expect(triggered('manual.fired', '{}', facts('other')).matches).toBe(false);
    expect(triggered('manual.fired', '{}', { event: 'manual.fired', repository }).matches).toBe(false);
  });
});

describe('a trigger that does not fire gives the reason', () => {
  test.each([
    ['{base: main}', {}, 'the base branch is trunk, and the filter wants main'],
    ['{head: [a, b]}', {}, 'the head branch is feature/x, and the filter wants a or b'],
    ['{draft: false}', { draft: true }, 'the pull request is a draft'],
    ['{draft: true}', {}, 'the pull request is not a draft'],
    ['{author: "dependabot[bot]"}', {}, 'the author is octocat, and the filter wants dependabot[bot]'],
    ['{association: OWNER}', {}, 'the author’s association is MEMBER, and the filter wants OWNER'],
    ['{labels: {all: [bug, docs]}}', {}, 'the labels are bug, area/api, and the filter wants docs'],
    ['{labels: {none: ["area/*"]}}', {}, 'the label area/api is there, and the filter wants none of area/*'],
    ['{paths_ignore: "**"}', {}, 'every changed file matches **'],
    ['{title: "^fix"}', {}, 'the title has nothing that matches ^fix'],
    [
      '{body: secret}',
      { body: `${'a'.repeat(4_096)}secret` },
      'the description has nothing that matches secret',
    ],
    ['{body: x}', { body: undefined }, 'the description is not known, and the filter wants x'],
    ['{repository: [other, "!app"]}', {}, 'the repository is acme/app, and the filter wants other or !app'],
    ['{labels: docs}', { labels: [] }, 'the labels are none, and the filter wants docs'],
    [
      '{paths: "docs/**"}',
      { changed_paths: ['a', 'b', 'c', 'd'] },
      'the changed files are a, b, c, …, and the filter wants docs/**',
    ],
    [
      '{paths: "**"}',
      { changed_paths: undefined },
      'the changed files are not known, and the filter wants **',
    ],
    [
      `{base: "{{ repo['mis' ~ 'sing'] }}"}`,
      {},
      "the base branch is trunk, and the filter wants {{ repo['mis' ~ 'sing'] }}",
    ],
  ])('for the filter %s', (filter, change, because) => {
    const facts = { ...opened, pull_request: { ...pullRequest, ...change } } as TriggerFacts;
    expect(triggered('pr.opened', filter, facts)).toEqual({ matches: false, because });
  });

  test('for none of several triggers, by those of the same event', () => {
    const chain = chainOf(
      'name: example\ntrigger: [{event: pr.merged}, {event: pr.opened, filter: {base: main}}]\nsteps: [{skill: ci}]',
    );
    expect(triggerMatches(chain, opened)).toEqual({
      matches: false,
      because: 'the base branch is trunk, and the filter wants main',
    });
    expect(triggerMatches(chain, { ...opened, event: 'issue.created' })).toEqual({
      matches: false,
      because: 'it waits for pr.merged or pr.opened, and this is issue.created',
    });
    expect(triggerMatches(chain, { ...opened, event: 'pr.merged' })).toEqual({ matches: true });
  });

  test('for another event', () => {
    expect(triggered('pr.merged', '{}', opened)).toEqual({
      matches: false,
      because: 'it waits for pr.merged, and this is pr.opened',
    });
  });

  test('when nothing is known of the pull request', () => {
    const facts: TriggerFacts = { event: 'pr.opened', repository };
    expect(triggered('pr.opened', '{draft: false}', facts).matches).toBe(false);
    expect(triggered('pr.opened', '{base: "**"}', facts).matches).toBe(false);
  });
});

describe('a composite explains an event', () => {
  const chain = chainOf(
    'name: example\ntrigger: {all_of: [{event: pr.labeled, filter: {label: x}}, {event: ci.changed}], within: 1h, key: commit}\nsteps: [{skill: ci}]',
  );
  const name = 'all_of (pr.labeled, ci.changed) within 1 h';

  test.each([
    ['as a part', { ...opened, event: 'pr.labeled', label: 'x' }, `it counts as a part of ${name}`],
    [
      'as no part, with the reason',
      { ...opened, event: 'pr.labeled', label: 'y' },
      `it is no part of ${name}: the added label is y, and the filter wants x`,
    ],
    ['as another one', opened, `it waits for ${name}, and this is pr.opened`],
  ])('%s', (_, facts, because) => {
    expect(explainTriggers(chain, facts)).toMatchObject([{ matches: false, checks: [{ because }] }]);
  });
});

test.each([
  ['{ event: pr.opened, filter: { labels: "!wip" } }', ['2:10: warning: "!wip" leaves out a label']],
  [
    '{ event: issue.created, filter: { labels: [bug, "!wip"] } }',
    ['2:10: warning: "!wip" leaves out a label'],
  ],
  [
    '{ all_of: [{ event: pr.opened, filter: { labels: "!wip" } }, { event: pr.labeled }], within: 1h, key: pull_request }',
    ['2:10: warning: "!wip" leaves out a label'],
  ],
  ['{ event: pr.opened, filter: { labels: { none: wip } } }', []],
  ['{ event: pr.labeled, filter: { label: "!wip" } }', []],
])('lint warns of a list of labels that excludes one: %s', (trigger, warnings) => {
  const text = `name: after\ntrigger: ${trigger}\nsteps:\n  - { action: gh-label, with: { labels: [seen] } }\n`;
  expect(errorsOf(text)).toEqual([]);
  const found = chainWarnings(readYaml(text, 'a.yaml'), KNOWN).map(formatDiagnostic);
  expect(found.map((one) => one.replace(/^a\.yaml:/, '').split(' and not')[0])).toEqual(warnings);
});
