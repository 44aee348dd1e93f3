import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chainSchema } from '../../../src/domain/chain/chain.ts';
import { parseChain } from '../../../src/domain/chain/parse.ts';
import { chainOf, errorsOf, KNOWN, withSteps } from '../../support/chains.ts';
import { eachFirstQuick } from '../../support/each-first-quick.ts';
import { withinEffort } from '../../support/effort.ts';

const shippedText = readFileSync(new URL('../../../chains/pr-review.yaml', import.meta.url), 'utf8');

describe('a valid chain file', () => {
  test('the shipped chain parses and matches its schema', () => {
    const chain = chainOf(shippedText);
    expect(chainSchema.parse(chain)).toEqual(chain);
    expect(
      chain.steps.map(({ id, dependsOn, requiresApproval }) => ({ id, dependsOn, requiresApproval })),
    ).toEqual([
      { id: 'review', dependsOn: [], requiresApproval: false },
      { id: 'ci', dependsOn: ['review'], requiresApproval: false },
      { id: 'merge', dependsOn: ['ci'], requiresApproval: true },
    ]);
  });

  test('the shipped chain runs for pull requests to the default branch that are not drafts', () => {
    expect(chainOf(shippedText).trigger).toEqual({
      event: 'pr.opened',
      filter: { base: ['{{ repo.default_branch }}'], draft: false },
    });
  });

  test('omitted keys get the documented defaults', () => {
    expect(chainOf(withSteps('  - skill: ci')).steps).toEqual([
      {
        id: 'ci',
        index: 0,
        uses: { kind: 'skill', name: 'ci' },
        dependsOn: [],
        with: {},
        retry: { attempts: 1, backoffMs: 0 },
        onFailure: 'fail',
        requiresApproval: false,
      },
    ]);
  });

  test('max_parallel limits the steps that work at once', () => {
    expect(chainOf(`max_parallel: 2\n${withSteps('  - skill: ci')}`).maxParallel).toBe(2);
  });

  test('durations become milliseconds', () => {
    const [step] = chainOf(
      withSteps(
        '  - skill: ci\n    timeout: 30m\n    retry: {attempts: 3, backoff: 30s}\n    on_failure: continue',
      ),
    ).steps;
    expect(step).toMatchObject({
      timeoutMs: 1_800_000,
      retry: { attempts: 3, backoffMs: 30_000 },
      onFailure: 'continue',
    });
  });

  test('a step with an empty depends_on starts at once, and a single id needs no brackets', () => {
    const steps = chainOf(
      withSteps(
        '  - skill: ci\n  - skill: pr-review\n    depends_on: []\n  - action: gh-merge\n    requires_approval: true\n    depends_on: ci',
      ),
    ).steps;
    expect(steps.map((step) => step.dependsOn)).toEqual([[], [], ['ci']]);
  });

  test('steps without an id are named after what they use, and written ids keep their names', () => {
    const steps = chainOf(withSteps('  - skill: ci\n  - skill: ci\n  - id: ci-2\n    skill: ci')).steps;
    expect(steps.map((step) => step.id)).toEqual(['ci', 'ci-3', 'ci-2']);
  });

  test('a step that asks for particular people keeps what it asks for', () => {
    const [step] = chainOf(
      withSteps(
        '  - action: gh-merge\n    requires_approval: { teams: [acme/dbas], count: 2, question: "Now?" }',
      ),
    ).steps;
    expect(step).toMatchObject({
      requiresApproval: true,
      approval: { teams: ['acme/dbas'], count: 2, question: 'Now?' },
    });
  });

  test.each([
    '{}',
    '{ team: [acme/dbas] }',
    '{ teams: [acme/] }',
    '{ permission: none }',
    '{ permission: read }',
    '{ count: 0 }',
    '{ users: [] }',
    'yes',
  ])('`requires_approval: %s` is an error', (approval) => {
    expect(errorsOf(withSteps(`  - action: gh-merge\n    requires_approval: ${approval}`))).not.toEqual([]);
  });

  test('a step whose skill’s name cannot be an id is named after its position', () => {
    const text = withSteps('  - skill: Odd Name');
    const { chain } = parseChain(text, 'chain.yaml', { skills: ['Odd Name'], actions: [] });
    expect(chain?.steps[0]?.id).toBe('step-1');
  });

  test('an anchor can be reused', () => {
    const [, second] = chainOf(
      withSteps('  - skill: ci\n    with: &w {scope: full}\n  - skill: pr-review\n    with: *w'),
    ).steps;
    expect(second?.with).toEqual({ scope: 'full' });
  });
});

describe('the parser of chain files', () => {
  const table: [behaviour: string, text: string, diagnostics: string[]][] = [
    ['an empty file', '', ['chain.yaml:1:1: the file is empty']],
    ['a list', '- a', ['chain.yaml:1:1: the file must be a mapping of keys to values, not a list']],
    [
      'missing keys',
      'description: x',
      [
        'chain.yaml:1:1: "name" is missing',
        'chain.yaml:1:1: "trigger" is missing',
        'chain.yaml:1:1: "steps" is missing',
      ],
    ],
    [
      'a limit below one step at once',
      `max_parallel: 0\n${withSteps('  - skill: ci')}`,
      ['chain.yaml:1:15: "max_parallel" must be at least 1'],
    ],
    [
      'a limit above sixteen steps at once',
      `max_parallel: 17\n${withSteps('  - skill: ci')}`,
      ['chain.yaml:1:15: "max_parallel" must be at most 16'],
    ],
    [
      'a YAML error',
      'name: [a',
      [
        'chain.yaml:1:9: this is not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
      ],
    ],
    [
      'a text with a colon',
      'name: Says: no',
      [
        'chain.yaml:1:7: this is not valid YAML: a second "key: value" begins in this value; a text with ": " in it needs quotes',
      ],
    ],
    [
      'two documents',
      'name: a\n---\nname: b',
      ['chain.yaml:2:1: this is not valid YAML: the file must hold one document'],
    ],
    ['a duplicate key', 'name: a\nname: b', ['chain.yaml:2:1: the key "name" is here twice']],
    [
      'a custom tag',
      'name: !!js/function x',
      ['chain.yaml:1:7: this is not valid YAML: Unresolved tag: tag:yaml.org,2002:js/function'],
    ],
    ['an alias of nothing', 'name: *gone', ['chain.yaml:1:7: the alias *gone has no anchor before it']],
    [
      'an older YAML version',
      '%YAML 1.1\n---\nname: yes',
      ['chain.yaml:1:1: YAML 1.1 is not read here; use YAML 1.2'],
    ],
    [
      'an infinite number',
      'name: 1e999',
      ['chain.yaml:1:7: this value is not a text, a finite number, true, false or null'],
    ],
    [
      'a key that changes prototypes',
      '__proto__: {a: 1}',
      ['chain.yaml:1:1: the key "__proto__" is not allowed'],
    ],
    [
      'an invalid chain name',
      'name: Pr Review\ntrigger: {event: pr.opened}\nsteps: [{skill: ci}]',
      [
        'chain.yaml:1:7: a chain name starts with a small letter and has at most 50 small letters, digits and "-"',
      ],
    ],
    [
      'the name of a check run that the app itself uses',
      'name: configuration\ntrigger: {event: pr.opened}\nsteps: [{skill: ci}]',
      [
        'chain.yaml:1:7: a chain cannot be named "configuration": the app has a check run "countersign / configuration" of its own',
      ],
    ],
    [
      'a misspelt key',
      'name: a\ntriger: 1\ntrigger: {event: pr.opened}\nsteps: [{skill: ci}]',
      [
        'chain.yaml:2:1: unknown key "triger": did you mean "trigger"? Allowed: name, description, trigger, inputs, max_parallel, steps',
      ],
    ],
    [
      'a misspelt event',
      'name: a\ntrigger: {event: pr.open}\nsteps: [{skill: ci}]',
      [
        'chain.yaml:2:18: "event" cannot be "pr.open": did you mean "pr.opened"? Allowed: pr.opened, pr.updated, pr.labeled, pr.review_submitted, pr.merged, pr.closed, issue.created, issue.labeled, file.changed, ci.changed, release.published, invocation.completed, manual.fired',
      ],
    ],
    [
      'a filter of the wrong type',
      'name: a\ntrigger: {event: pr.opened, filter: {draft: yes, base: [main, 3]}}\nsteps: [{skill: ci}]',
      [
        'chain.yaml:2:45: "draft" must be true or false, not "yes"',
        'chain.yaml:2:63: entry 2 of "base" must be a text, not 3',
      ],
    ],
    [
      'a filter that says nothing about the event',
      'name: a\ntrigger: {event: issue.created, filter: {draft: true, labels: bug}}\nsteps: [{skill: auto}]',
      [
        'chain.yaml:2:42: the filter "draft" says nothing about issue.created; allowed: repository, author, association, labels, title, body',
      ],
    ],
    [
      'a filter that reads what is not known yet',
      'name: a\ntrigger: {event: pr.opened, filter: {base: "{{ trigger.base }}"}}\nsteps: [{skill: ci}]',
      ['chain.yaml:2:48: only "repo" is known before the chain starts, not "trigger"'],
    ],
    [
      'a glob with an open brace',
      'name: a\ntrigger: {event: pr.opened, filter: {paths: "src/{a,b"}}\nsteps: [{skill: ci}]',
      ['chain.yaml:2:45: this pattern cannot be used: a "{" has no "}"; write \\{ for the character itself'],
    ],
    [
      'a title that is no pattern of RE2',
      'name: a\ntrigger: {event: pr.opened, filter: {title: "(?=x)"}}\nsteps: [{skill: ci}]',
      ['chain.yaml:2:45: the pattern cannot be used: invalid or unsupported Perl syntax: `(?=`'],
    ],
    [
      'labels of an unknown kind',
      'name: a\ntrigger: {event: pr.opened, filter: {labels: {some: bug}}}\nsteps: [{skill: ci}]',
      ['chain.yaml:2:47: unknown key "some"; allowed: any, all, none'],
    ],
    [
      'the second of two triggers',
      'name: a\ntrigger:\n  - {event: pr.opened}\n  - {event: issue.created, filter: {base: main}}\nsteps: [{skill: ci}]',
      [
        'chain.yaml:4:37: the filter "base" says nothing about issue.created; allowed: repository, author, association, labels, title, body',
      ],
    ],
    [
      'a member that none of the triggers has',
      'name: a\ntrigger: [{event: file.changed}, {event: issue.created}]\nsteps: [{skill: ci, condition: "{{ trigger.draft }}"}]',
      [
        'chain.yaml:3:36: file.changed or issue.created has no "draft"; allowed: kind, event, actor, author, head_sha, branch, paths, association, title, issue_number, labels',
      ],
    ],
    [
      'a pattern of wildcards only',
      'name: a\ntrigger: {event: pr.opened, filter: {paths: "*a*a*a*a*a*a*a*a*"}}\nsteps: [{skill: ci}]',
      ['chain.yaml:2:45: a pattern may have at most 8 wildcards'],
    ],
    [
      'no steps',
      'name: a\ntrigger: {event: pr.opened}\nsteps: []',
      ['chain.yaml:3:8: "steps" must have at least 1 entry'],
    ],
    [
      'a step with nothing to do',
      withSteps('  - id: a'),
      ['chain.yaml:5:5: a step needs a skill or an action'],
    ],
    [
      'a step with both',
      withSteps('  - skill: ci\n    action: gh-label'),
      ['chain.yaml:6:5: a step has either a skill or an action, not both'],
    ],
    [
      'a step that is not a mapping',
      withSteps('  - 5'),
      ['chain.yaml:5:5: entry 1 of "steps" must be a mapping of keys to values, not 5'],
    ],
    [
      'a mapping with its own string conversion instead of a word',
      withSteps('  - skill: ci\n    on_failure: { toString: 1 }'),
      ['chain.yaml:6:17: "on_failure" cannot be a mapping; allowed: fail, continue'],
    ],
    [
      'an unknown skill',
      withSteps('  - skill: pr-reveiw'),
      ['chain.yaml:5:12: there is no skill "pr-reveiw": did you mean "pr-review"? Allowed: pr-review, ci'],
    ],
    [
      'an unknown action',
      withSteps('  - action: deploy'),
      [
        'chain.yaml:5:13: there is no action "deploy"; allowed: gh-merge, gh-comment, gh-dispatch, gh-issue, gh-label, gh-release, gh-request-reviewers, gh-status, notify, shell, wait',
      ],
    ],
    [
      'a repeated id',
      withSteps('  - id: a\n    skill: ci\n  - id: a\n    skill: ci'),
      ['chain.yaml:7:9: the step id "a" is already used by step 1'],
    ],
    [
      'an id of digits',
      withSteps('  - id: "7"\n    skill: ci'),
      [
        'chain.yaml:5:9: a step id starts with a small letter and goes on with small letters, digits, "-" and "_"',
      ],
    ],
    [
      'bad durations',
      withSteps('  - skill: ci\n    timeout: 30\n    retry: {attempts: 11, backoff: 3x}'),
      [
        'chain.yaml:6:14: a length of time is a number and a unit, such as 90s, 30m, 2h or 7d, and at most 7d',
        'chain.yaml:7:23: "attempts" must be at most 10',
        'chain.yaml:7:36: a length of time is a number and a unit, such as 90s, 30m, 2h or 7d, and at most 1d',
      ],
    ],
    [
      'a duration of zero',
      withSteps('  - skill: ci\n    timeout: 0m'),
      ['chain.yaml:6:14: 0m is no time at all: the shortest is 1s, and the longest 7d'],
    ],
    [
      'a dependency on an unknown step',
      withSteps('  - id: review\n    skill: ci\n  - skill: ci\n    depends_on: [reveiw]'),
      ['chain.yaml:8:18: there is no step "reveiw": did you mean "review"? Allowed: review, ci'],
    ],
    [
      'a cycle, as a path',
      withSteps(
        '  - id: a\n    skill: ci\n    depends_on: c\n  - id: b\n    skill: ci\n  - id: c\n    skill: ci',
      ),
      ['chain.yaml:7:5: these steps wait for each other: a → c → b → a'],
    ],
    [
      'every circle',
      withSteps(
        ['  - {id: a, skill: ci, depends_on: a}', '  - {id: b, skill: ci, depends_on: b}'].join('\n'),
      ),
      [
        'chain.yaml:5:24: these steps wait for each other: a → a',
        'chain.yaml:6:24: these steps wait for each other: b → b',
      ],
    ],
    [
      'a merge without an approval',
      withSteps('  - action: gh-merge'),
      [
        'chain.yaml:5:13: gh-merge always needs requires_approval: true; no setting turns the countersign off',
      ],
    ],
    [
      'a merge that turns its approval off',
      withSteps('  - action: gh-merge\n    requires_approval: false'),
      [
        'chain.yaml:6:24: gh-merge always needs requires_approval: true; no setting turns the countersign off',
      ],
    ],
    [
      'a condition on an unknown step',
      withSteps(
        '  - {id: review, skill: ci}\n  - skill: ci\n    condition: "{{ steps.reveiw.outcome.passed }}"',
      ),
      ['chain.yaml:7:20: there is no step "reveiw": did you mean "review"? Allowed: review, ci'],
    ],
    [
      'a condition on an unknown position',
      withSteps('  - skill: ci\n  - skill: pr-review\n    condition: "{{ steps[2].outcome.passed }}"'),
      ['chain.yaml:7:20: there is no steps[2]: positions go from 0 to 1'],
    ],
    [
      'a condition on a step that comes later',
      withSteps('  - skill: ci\n    condition: steps.late.outcome.passed\n  - {id: late, skill: ci}'),
      [
        'chain.yaml:6:16: the step "late" does not come before this one, so its outcome cannot be read here; add it to depends_on',
      ],
    ],
    [
      'a condition on itself',
      withSteps('  - skill: ci\n    condition: steps.ci.outcome.passed'),
      [
        'chain.yaml:6:16: the step "ci" does not come before this one, so its outcome cannot be read here; add it to depends_on',
      ],
    ],
    [
      'an input from a parallel step',
      withSteps(
        '  - {id: a, skill: ci}\n  - {id: b, skill: ci, depends_on: []}\n  - skill: ci\n    depends_on: [b]\n    with: {deep: [{x: "see {{ steps.a.outcome }}"}]}',
      ),
      [
        'chain.yaml:9:31: the step "a" does not come before this one, so its outcome cannot be read here; add it to depends_on',
      ],
    ],
    [
      'a field that the action does not have',
      withSteps(
        '  - {id: a, action: gh-comment, with: {body: x}}\n  - skill: ci\n    with: {x: "{{ steps[0].outcome.verdict }}"}',
      ),
      [
        'chain.yaml:7:19: no outcome of the step "a" has "verdict"; allowed: outcome_kind, summary, passed, action, details, content_hash',
      ],
    ],
    [
      'a misspelt member of a step',
      withSteps('  - {id: a, skill: ci}\n  - skill: ci\n    condition: "{{ steps.a.outcme.passed }}"'),
      ['chain.yaml:7:20: a step has no "outcme": did you mean "outcome"? Allowed: id, status, outcome'],
    ],
    [
      'an id with a dash after a dot',
      withSteps('  - skill: pr-review\n  - skill: ci\n    condition: steps.pr-review.outcome.passed'),
      [
        'chain.yaml:7:16: name the step and what you want of it: steps.review.outcome, steps[0].status, or steps[\'my-step\'].outcome for an id with "-"',
      ],
    ],
    [
      'an unknown root',
      withSteps('  - skill: ci\n    with: {a: "{{ triger.number }}"}'),
      [
        'chain.yaml:6:19: "triger" is not known here: did you mean "trigger"? Allowed: trigger, inputs, repo, steps, state',
      ],
    ],
    [
      'an unknown filter',
      withSteps('  - skill: ci\n    condition: "{{ trigger.title | lenght }}"'),
      [
        'chain.yaml:6:36: "lenght" is not a known filter: did you mean "length"? Allowed: length, lower, upper, trim, default, join, first, last, int, string, replace, round, abs, list, map, selectattr, rejectattr, select, reject, sort, unique, sum, min, max, tojson',
      ],
    ],
    [
      'an unfinished expression in a block text',
      withSteps('  - skill: ci\n    with:\n      body: |\n        Hello {{ trigger.title'),
      [
        'chain.yaml:7:13: the expression does not go on like this; an operator, a closing quote or a closing }} may be missing',
      ],
    ],
    [
      'a tag',
      withSteps('  - skill: ci\n    with: {a: "{% for x in y %}"}'),
      [
        'chain.yaml:6:16: tags such as {% if %} are not available here; write a {{ … if … else … }} expression',
      ],
    ],
    [
      'a condition with text around it',
      withSteps('  - skill: ci\n    condition: "{{ true }} and more"'),
      ['chain.yaml:6:17: a condition is exactly one expression, with nothing around its {{ }}'],
    ],
  ];

  test.each(table)('reports %s', (_, text, diagnostics) => {
    expect(errorsOf(text)).toEqual(diagnostics);
  });

  test('reports a field that no outcome has, where it is read', () => {
    const steps = '  - {id: a, skill: ci}\n  - skill: ci\n    condition: "{{ steps.a.outcome.pased }}"';
    const [diagnostic] = errorsOf(withSteps(steps));
    expect(diagnostic).toMatch(
      /^chain.yaml:7:20: no outcome of the step "a" has "pased": did you mean "passed"\?/,
    );
  });

  test.each([
    ['pr.opened', 'trigger.pr_numbr', 'pr.opened has no "pr_numbr": did you mean "pr_number"?'],
    ['pr.opened', 'trigger.branch', 'pr.opened has no "branch"; allowed: kind, event, actor, author, '],
    ['issue.created', 'trigger.pr_number', 'issue.created has no "pr_number"'],
    ['file.changed', 'trigger.title', 'file.changed has no "title"'],
    ['pr.opened', 'repo.full_nam', 'the repository has no "full_nam": did you mean "full_name"?'],
  ])('reports a member that no run has: on %s, %s', (event, expression, message) => {
    const text = `name: a\ntrigger: { event: ${event} }\nsteps:\n  - skill: auto\n    condition: "{{ ${expression} }}"`;
    const [diagnostic, ...others] = errorsOf(text);
    expect(diagnostic).toContain(`chain.yaml:5:20: ${message}`);
    expect(others).toEqual([]);
  });

  test.each(['trigger.actor', 'trigger.input_reason', 'repo.owner'])(
    'accepts the member %s',
    (expression) => {
      expect(errorsOf(withSteps(`  - skill: ci\n    condition: "{{ ${expression} }}"`))).toEqual([]);
    },
  );

  const REVIEW = '  - { id: a, skill: pr-review }\n  - skill: ci\n';

  test.each([
    [
      'steps.a.outcome.tests_passed',
      'no outcome of the step "a" has "tests_passed"; allowed: outcome_kind, ',
    ],
    [
      'steps.a.outcome.findings[0].severty',
      '"outcome.findings[0]" has no "severty": did you mean "severity"?',
    ],
    ['steps.a.outcome.findings.severity', '"outcome.findings" has no "severity"; allowed: length'],
    ['steps.a.outcome.summary.length', '"outcome.summary" has no members'],
    ['steps.a.outcome.since.fixd', '"outcome.since" has no "fixd": did you mean "fixed"?'],
    ['state.working.risks[0].severty', '"state.working.risks[0]" has no "severty": did you mean "severity"?'],
    ['state.frame.goals', '"state.frame" has no "goals": did you mean "goal"?'],
  ])('reports a member that the outcome or the memory never has: %s', (expression, message) => {
    const [diagnostic, ...others] = errorsOf(withSteps(`${REVIEW}    condition: "{{ ${expression} }}"`));
    expect(diagnostic).toContain(`chain.yaml:7:20: ${message}`);
    expect(others).toEqual([]);
  });

  test.each([
    ["steps.a.outcome.findings | selectattr('severty', 'eq', 'high')", 'severty', 'severity'],
    ["steps.a.outcome.findings | rejectattr('rule') | map(attribute='fille')", 'fille', 'file'],
    ["state.working.risks | sort(attribute='lime')", 'lime', 'line'],
    ['(steps.a.outcome.findings | first).severty', 'severty', 'severity'],
    ["(steps.a.outcome.findings | selectattr('rule') | last).lime.x", 'lime', 'line'],
    ["(steps.a.outcome.findings | sort(attribute='line'))[0].severty", 'severty', 'severity'],
  ])('reports an attribute that no entry has: %s', (expression, word, meant) => {
    const [diagnostic, ...others] = errorsOf(
      withSteps(`${REVIEW}    condition: "{{ (${expression}) | length > 0 }}"`),
    );
    expect(diagnostic).toContain(`has no "${word}": did you mean "${meant}"?`);
    expect(diagnostic).toMatch(/^chain\.yaml:7:/);
    expect(others).toEqual([]);
  });

  test.each([
    'steps.a.outcome.findings[0].line',
    'steps.a.outcome.findings.length',
    "steps.a.outcome.findings | selectattr('severity', 'eq', 'high') | map(attribute='file') | first == 'a'",
    'steps.a.outcome.analyzers[1].status',
    "(steps.a.outcome.findings | sort(attribute='line') | last).severity == 'high'",
    "(steps.a.outcome.findings | sort(attribute='line'))[0].line == 1",
    "(steps.a.outcome.findings | selectattr('rule')).length > 0",
    "(steps.a.outcome.findings | map(attribute='file') | first).length > 3",
    'state.working.risks[0].step',
    "state.output.results | map(attribute='passed') | first",
  ])('accepts %s', (expression) => {
    expect(errorsOf(withSteps(`${REVIEW}    condition: "{{ ${expression} }}"`))).toEqual([]);
  });

  describe('of the data of a kind that a package registers', () => {
    const known = {
      ...KNOWN,
      skills: [...KNOWN.skills, 'cover'],
      outcomes: { ...KNOWN.outcomes, cover: 'octo/coverage' as const },
      outcomeData: {
        cover: {
          type: 'object',
          properties: {
            total: { type: 'number' },
            files: { type: 'array', items: { type: 'object', properties: { path: { type: 'string' } } } },
            extra: { type: 'object', properties: { known: { type: 'string' } }, additionalProperties: true },
          },
        },
      },
    };
    const errors = (path: string) =>
      parseChain(
        withSteps(
          `  - { id: a, skill: cover }\n  - { skill: ci, condition: "{{ steps.a.outcome.${path} == 1 }}" }`,
        ),
        'chain.yaml',
        known,
      ).diagnostics.map(({ message }) => message);

    test.each(['data.total', 'data.files[0].path', 'data.files.length', 'data.extra.anything', 'passed'])(
      'accepts %s',
      (path) => expect(errors(path)).toEqual([]),
    );

    test.each([
      ['data.totl', '"outcome.data" has no "totl": did you mean "total"? Allowed: total, files, extra'],
      ['data.files[0].pth', '"outcome.data.files[0]" has no "pth": did you mean "path"? Allowed: path'],
      ['data.total.value', '"outcome.data.total" has no members'],
    ])('reports %s', (path, message) => {
      expect(errors(path)).toEqual([expect.stringContaining(message)]);
    });
  });

  test('reads every field of every outcome if the kind of the skill is not known', () => {
    const text = withSteps(
      '  - { id: a, skill: auto }\n  - skill: ci\n    condition: "{{ steps.a.outcome.tests_passed and steps.a.outcome.findings[0].fil }}"',
    );
    expect(errorsOf(text)).toEqual([
      expect.stringContaining('"outcome.findings[0]" has no "fil": did you mean "file"?'),
    ]);
  });

  test('reports all errors at once, in file order', () => {
    const diagnostics = errorsOf(
      [
        'name: A',
        'trigger: {event: pr.open}',
        'steps:',
        '  - skil: ci',
        '  - skill: reveiw',
        '    condition: "{{ steps.x.outcome }}"',
        '    timeout: soon',
      ].join('\n'),
    );
    expect(diagnostics.map((diagnostic) => diagnostic.split(': ', 1)[0])).toEqual([
      'chain.yaml:1:7',
      'chain.yaml:2:18',
      'chain.yaml:4:5',
      'chain.yaml:4:5',
      'chain.yaml:5:12',
      'chain.yaml:6:20',
      'chain.yaml:7:14',
    ]);
  });

  test('still reads the name of a chain with errors, so that it can shadow another chain', () => {
    expect(parseChain('name: mine\nsteps: [', 'f.yaml', KNOWN)).toMatchObject({ name: 'mine' });
  });

  test('does not read a name that no chain can have', () => {
    expect(parseChain('name: Not One', 'f.yaml', KNOWN)).not.toHaveProperty('name');
  });
});

describe('a chain file that should exhaust the parser', () => {
  const nested = 'b c d e f g h'
    .split(' ')
    .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefg'[index]}`).join(', ')}]`);
  const files: [string, string, string][] = [
    ['a file above 64 KB', `name: ${'x'.repeat(70_000)}`, 'larger than 64 KB'],
    ['a file above 64 KB in bytes only', `name: ${'é'.repeat(40_000)}`, 'larger than 64 KB'],
    ['a billion laughs', ['a: &a [x]', ...nested].join('\n'), 'more than 20 aliases'],
    ['an alias in itself', 'a: &a [*a]', 'nested more than 32'],
    ['brackets 30,000 deep', `${'['.repeat(30_000)}${']'.repeat(30_000)}`, 'nested too deeply'],
    ['brackets 40 deep', `a: ${'['.repeat(40)}${']'.repeat(40)}`, 'nested more than 32 deep'],
    ['keys of keys', '? '.repeat(32_000), 'keys must be texts'],
    ['11,000 values', `a: [${'1,'.repeat(11_000)}]`, 'more than 10000 values'],
    ['9,000 steps', withSteps('  - 5\n'.repeat(9_000)), 'at most 50 entries'],
    ['6,000 unknown keys', Array.from({ length: 6_000 }, (_, n) => `k${n}: 1`).join('\n'), 'unknown key'],
    ['9,000 keys of one name', 'a: 1\n'.repeat(9_000), 'is here twice'],
    [
      '2,500 unfinished expressions',
      withSteps(
        `  - skill: ci\n    with:\n${Array.from({ length: 2_500 }, (_, n) => `      k${n}: "{{ x"\n`).join('')}`,
      ),
      'may be missing',
    ],
    ['51 steps', withSteps('  - skill: ci\n'.repeat(51)), 'at most 50 entries'],
  ];
  eachFirstQuick(files)('is refused with little work: %s', (_, text, message) => {
    expect(withinEffort(3_000, () => errorsOf(text)).join('\n')).toContain(message);
  });
});

describe('any text', () => {
  /** A chain takes some milliseconds to parse. */
  const numRuns = process.env.COUNTERSIGN_LONG === '1' ? 250 : 100;

  test('gives a chain or errors, and never makes the parser throw', { tags: 'slow' }, () => {
    const slice = fc
      .tuple(fc.nat(shippedText.length), fc.nat(40), fc.string({ maxLength: 12, unit: 'grapheme' }))
      .map(([at, cut, text]) => shippedText.slice(0, at) + text + shippedText.slice(at + cut));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), slice), (text) => {
        const { chain, diagnostics } = parseChain(text, 'f.yaml', KNOWN);
        expect(chain === undefined).toBe(diagnostics.length > 0);
      }),
      { numRuns },
    );
  });

  test('has each error at a place inside the file', () => {
    const broken = fc
      .tuple(fc.nat(shippedText.length), fc.constantFrom(':', '"', '}', '- ', '\n', '&a ', 'x', '{{'))
      .map(([at, text]) => shippedText.slice(0, at) + text + shippedText.slice(at));
    fc.assert(
      fc.property(broken, (text) => {
        const lines = text.split('\n');
        for (const { line, column } of parseChain(text, 'f.yaml', KNOWN).diagnostics) {
          expect(column).toBeGreaterThanOrEqual(1);
          expect(column).toBeLessThanOrEqual((lines[line - 1]?.length ?? -1) + 1);
        }
      }),
      { numRuns },
    );
  });
});
