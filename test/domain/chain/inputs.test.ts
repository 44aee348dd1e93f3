import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../src/core/diagnostic.ts';
import { parseChain } from '../../../src/domain/chain/parse.ts';
import { createRegistry } from '../../../src/engine/sessions/registry.ts';
import { SHIPPED_SKILLS } from '../../../src/skills/builtin/shipped.ts';
import { errorsOf, KNOWN, withSteps } from '../../support/chains.ts';

/** The errors of a step with this `with:`, without file and position. */
function of(action: string, inputs: string): string[] {
  const steps = `  - id: act\n    action: ${action}\n    requires_approval: true\n    with: ${inputs}\n`;
  return errorsOf(withSteps(steps)).map((line) => line.replace(/^chain\.yaml:\d+:\d+: /, ''));
}

describe('lint of the inputs of actions', () => {
  test.each([
    ['gh-merge', '{}'],
    ['gh-merge', '{ method: rebase }'],
    ['gh-merge', '{ pr: "{{ trigger.pr_number }}", method: "{{ trigger.title }}" }'],
    ['gh-merge', '{ pr: 7 }'],
    ['gh-comment', '{ body: "Hello {{ trigger.author }}" }'],
    ['gh-label', '{ labels: one }'],
    ['gh-label', '{ labels: [one, "{{ trigger.author }}"] }'],
    ['gh-label', '{ labels: "{{ trigger.labels }}" }'],
    ['notify', '{ to: team-chat, text: "Hello" }'],
    ['shell', '{ run: make, env: { TITLE: "{{ trigger.title }}" }, timeout: 1h, artifacts: out/* }'],
    ['wait', '{ for: 30m }'],
    ['wait', `{ until: "{{ 'ready' in pr.labels }}", timeout: 3d }`],
    ['wait', `{ until: "not pr.draft and trigger.author != 'ada'" }`],
    ['gh-status', '{ context: a, state: "{{ trigger.title }}", target_url: "{{ trigger.title }}" }'],
    ['gh-request-reviewers', '{ people: "{{ trigger.author }}" }'],
    ['gh-issue', '{ per: run, title: "{{ trigger.title }}" }'],
    ['gh-issue', '{ per: run, title: "Use {braces}" }'],
    ['gh-issue', '{ outcome: "{{ trigger.title }}", title: "{severity}: {{ trigger.title }}" }'],
    ['gh-merge', '{ method: queue, trailers: false, delete_branch: true }'],
    ['notify', '{ to: [team-chat, deploys], text: "{{ trigger.title }}" }'],
  ])('accepts for %s: %s', (action, inputs) => {
    expect(of(action, inputs)).toEqual([]);
  });

  test.each([
    ['gh-merge', '{ metod: rebase }', 'unknown key "metod": did you mean "method"?'],
    ['gh-merge', '{ method: sqash }', '"method" cannot be "sqash": did you mean "squash"?'],
    [
      'gh-merge',
      '{ method: queue, title: New }',
      '"title" has no effect with "method: queue": the merge queue words the commit',
    ],
    ['gh-merge', '{ method: queue, trailers: true }', '"trailers" has no effect with "method: queue"'],
    [
      'gh-issue',
      '{ outcome: "{{ trigger.title }}", title: "{severty}: {file}" }',
      'there is no {severty}: did you mean "severity"? Allowed: severity, category, description, suggestion, file, line, rule',
    ],
    ['gh-merge', '{ method: true }', '"method" cannot be true'],
    ['gh-merge', '{ pr: seven }', '"pr" is the number of the run’s own pull request'],
    ['gh-merge', '{ pr: 0 }', '"pr" is the number of the run’s own pull request'],
    ['gh-merge', '{ issue: 7 }', 'unknown key "issue"'],
    ['gh-merge', '{ "{{ trigger.title }}": rebase }', 'unknown key "{{ trigger.title }}"'],
    ['gh-comment', '{}', '"body" is missing'],
    ['gh-comment', '{ body: [a] }', '"body" must be a text, not a list'],
    ['gh-comment', '{ body: "" }', '"body" must have at least 1 character'],
    ['gh-label', '{ labels: [] }', '"labels" must have at least 1 entry'],
    ['gh-label', '{ labels: [7] }', 'entry 1 of "labels" must be a text, not 7'],
    ['notify', '{ to: Team, text: Hi }', 'a webhook is the name that the operator of the server gave it'],
    ['notify', '{ to: "https://hooks.slack.com/x", text: Hi }', '"to" takes the name of a webhook, not its'],
    ...[
      'http://127.0.0.1:8080/',
      'https://169.254.169.254/latest/meta-data',
      'https://[::1]/',
      'https://[fd00:ec2::254]/',
      'https://[::ffff:10.0.0.1]/',
      'https://2130706433/',
      'http://localhost:3000/',
      'https://metadata.google.internal/',
    ].map((url) => ['notify', `{ to: "${url}", text: Hi }`, 'a webhook to a private address is refused']),
    ['shell', '{}', '"run" is missing'],
    ['shell', '{ run: "echo {{ trigger.title }}" }', '"run" cannot contain expressions'],
    ['shell', '{ run: make, env: { path: x } }', 'a variable has capital letters'],
    ['shell', '{ run: make, timeout: 2h }', 'at most 1h'],
    ['wait', '{}', 'wait needs either "for", a length of time, or "until", an expression'],
    ['wait', '{ for: soon }', 'a length of time is a number and a unit'],
    ['wait', '{ for: 31d }', 'at most 30d'],
    ['wait', '{ for: 1h, until: "pr.draft" }', 'wait has either "for" or "until", not both'],
    ['wait', '{ for: 1h, timeout: 2h }', '"timeout" goes with "until"'],
    ['wait', '{ until: "pr.lables" }', 'a pull request has no "lables": did you mean "labels"?'],
    [
      'wait',
      '{ until: "pr.additions > 3" }',
      'nothing in it changes while the step waits; name at least one',
    ],
    ['wait', `{ until: "trigger.title == 'x'" }`, 'nothing in it changes while the step waits'],
    ['wait', '{ until: "steps.later.outcome.passed and pr.draft" }', 'there is no step "later"'],
    ['wait', '{ until: "pr.draft and" }', 'an expression is missing'],
    ['gh-status', '{ context: "{{ trigger.title }}", state: success }', 'not as an expression'],
    [
      'gh-status',
      '{ context: a, state: success, target_url: "http://10.0.0.1/" }',
      'must be an https address',
    ],
    ['gh-release', '{ tag: v1, draft: "{{ true }}" }', '"draft" is written as true or false'],
    ['gh-dispatch', '{ workflow: "{{ trigger.title }}" }', 'a workflow is named by its file'],
    ['gh-request-reviewers', '{}', '"people" or "teams" must name somebody'],
    ['gh-issue', '{}', '"outcome" is missing'],
    ['gh-issue', '{ per: run }', '"title" is missing'],
    ['gh-label', '{ label: docs, labels: [docs] }', 'unknown key "label": did you mean "labels"?'],
  ])('refuses for %s: %s', (action, inputs, because) => {
    const [error, ...more] = of(action, inputs);
    expect(error).toContain(because);
    expect(more).toEqual([]);
  });

  test('allows a key that a rule of `validate:` reads', () => {
    const steps = (field: string) =>
      `  - action: gh-comment\n    with: { body: Hi, title: "{{ trigger.title }}" }\n    validate: [{ rule_id: a, field: ${field}, check: required }]\n`;
    expect(errorsOf(withSteps(steps('title')))).toEqual([]);
    expect(errorsOf(withSteps(steps('body')))).toHaveLength(1);
  });

  test('points at the key that is wrong', () => {
    const steps =
      '  - action: gh-merge\n    requires_approval: true\n    with:\n      pr: "{{ trigger.pr_number }}"\n      metod: rebase\n';
    expect(errorsOf(withSteps(steps))).toEqual([
      'chain.yaml:9:7: unknown key "metod": did you mean "method"? Allowed: pr, method, title, message, trailers, delete_branch',
    ]);
  });

  test('asks for inputs at the action of a step without `with:`', () => {
    expect(errorsOf(withSteps('  - action: gh-label\n'))).toEqual(['chain.yaml:5:13: "labels" is missing']);
  });
});

describe('lint of the inputs of built-in skills', () => {
  const known = { ...KNOWN, inputOf: createRegistry(SHIPPED_SKILLS).inputOf };
  const of = (skill: string, inputs: string) =>
    parseChain(withSteps(`  - skill: ${skill}\n    with: ${inputs}\n`), 'chain.yaml', known)
      .diagnostics.map(formatDiagnostic)
      .map((line) => line.replace(/^chain\.yaml:\d+:\d+: /, ''));

  test.each([
    ['ci', '{}'],
    ['ci', '{ scope: full, artifacts: "{{ trigger.labels }}" }'],
    ['pr-review', '{ pr: "{{ trigger.pr_number }}", effort: high, model: false }'],
  ])('accepts for %s: %s', (skill, inputs) => {
    expect(of(skill, inputs)).toEqual([]);
  });

  test.each([
    [
      'ci',
      '{ artifact: [log] }',
      'unknown key "artifact": did you mean "artifacts"? Allowed: pr, scope, artifacts',
    ],
    [
      'ci',
      '{ scope: required }',
      '"scope" can only be "full": every check counts, and settings say which ones to ignore',
    ],
    ['pr-review', '{ effort: hihg }', '"effort" is one of "low", "medium" and "high"'],
  ])('refuses for %s: %s', (skill, inputs, message) => {
    expect(of(skill, inputs)).toEqual([message]);
  });
});

test.each([
  [
    'name: a\non: pr.opened\ntrigger: { event: pr.opened }\nsteps: [{ skill: ci }]\n',
    'a chain has no "on"; write what starts it as "trigger: { event: pr.opened }"',
  ],
  [
    'name: a\ntrigger: pr.opened\nsteps: [{ skill: ci }]\n',
    'a trigger is a mapping; write "trigger: { event: pr.opened }"',
  ],
  [
    'name: a\ntrigger: [pr.opend]\nsteps: [{ skill: ci }]\n',
    'a trigger is a mapping such as "{ event: pr.opened }", and no event is named "pr.opend": did you mean "pr.opened"?',
  ],
  [
    withSteps('  - { skill: ci, if: "{{ true }}" }\n'),
    'a step has no "if"; write the expression as "condition: ..."',
  ],
  [
    withSteps('  - { skill: ci, needs: build }\n'),
    'a step has no "needs"; write the ids of the steps to wait for as "depends_on: [...]"',
  ],
  [withSteps('  - { uses: ci }\n'), 'a step has no "uses"; write "skill: <name>" or "action: <name>"'],
])('lint shows the right form of what GitHub Actions spells otherwise: %j', (text, message) => {
  expect(errorsOf(text).join('\n')).toContain(message);
});
