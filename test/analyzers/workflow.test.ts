// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these strings are shell variables
import { beforeAll, describe, expect, test } from 'vitest';
import type { ChangedFile } from '../../src/analyzers/changed-file.ts';
import type { Finding } from '../../src/domain/outcome/finding.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { added, modified, placesOf, review } from './support.ts';

/** `${{ text }}`, spelt so that this file has no template literal by accident. */
const ex = (text: string) => `$\{{ ${text} }}`;

const job = (...steps: string[]) =>
  [
    'on: push',
    'jobs:',
    '  a:',
    '    runs-on: ubuntu-latest',
    '    steps:',
    ...steps.map((step) => `      ${step}`),
    '',
  ].join('\n');

const INJECTIONS = [
  'github.event.issue.title',
  'github.event.pull_request.body',
  "github.event.pull_request['title']",
  'github.event.comment.body',
  'github.head_ref',
  'github.event.pull_request.head.ref',
  'github.event.commits[0].message',
  'github.event.head_commit.author.name',
  'toJSON(github.event)',
  "format('{0}', github.event.review.body)",
];
const HARMLESS = ['github.event.number', 'github.sha', 'github.event.pull_request.head.sha', 'vars.NAME'];

interface Case {
  name: string;
  text: string;
  /** The lines that the pull request changed; all by default. */
  changed?: number[];
  /** Replaces the default workflow. */
  path?: string;
  expected: string[];
}

const TITLE = ex('github.event.issue.title');
const LONGER = job('- run: |', '    echo one', `    echo ${TITLE}`, '    echo two');
const CHECKOUT = job(
  '- uses: actions/checkout@v4',
  '  with:',
  `    ref: ${ex('github.event.pull_request.head.sha')}`,
).replace('on: push', 'on: pull_request_target');

const CASES: Record<string, Case[]> = {
  'an expression in a script': [
    ...INJECTIONS.map((expression) => ({
      name: `${expression} is a critical injection`,
      text: job(`- run: echo "${ex(expression)}"`),
      expected: ['critical actionlint/script-injection:6'],
    })),
    ...HARMLESS.map((expression) => ({
      name: `${expression} is harmless`,
      text: job(`- run: echo "${ex(expression)}"`),
      expected: [],
    })),
  ],
  'what outsiders bring': [
    {
      name: 'gh pr checkout in a workflow of comments is critical',
      text: job('- run: gh pr checkout 1').replace('on: push', 'on: issue_comment'),
      expected: ['critical actionlint/untrusted-checkout:6'],
    },
    {
      name: 'gh pr checkout in a workflow of pushes is harmless',
      text: job('- run: gh pr checkout 1'),
      expected: [],
    },
    {
      name: 'an artifact over files that then run is named',
      text: job('- uses: actions/download-artifact@v4', '- run: make').replace(
        'on: push',
        'on: { workflow_run: { workflows: [a] } }',
      ),
      expected: ['medium actionlint/artifact-into-workspace:6'],
    },
    {
      name: 'an artifact in a folder of its own is harmless',
      text: job(
        '- uses: actions/download-artifact@v4',
        `  with: { path: "${ex('runner.temp')}/a" }`,
        '- run: make',
      ).replace('on: push', 'on: { workflow_run: { workflows: [a] } }'),
      expected: [],
    },
    {
      name: 'a cache in a release is named',
      text: job('- uses: actions/setup-node@v4', '  with: { cache: npm }').replace('on: push', 'on: release'),
      expected: ['low actionlint/cache-poisoning:6'],
    },
    {
      name: 'a cache in a test is harmless',
      text: job('- uses: actions/setup-node@v4', '  with: { cache: npm }'),
      expected: [],
    },
  ],
  'a secret': [
    {
      name: 'that is pasted into a script is named',
      text: job(`- run: login "${ex('secrets.TOKEN')}"`),
      expected: ['low actionlint/secret-in-script:6'],
    },
    {
      name: 'that comes with all others is named',
      text: job('- run: login', '  env:', `    ALL: ${ex('toJSON(secrets)')}`),
      expected: ['medium actionlint/all-secrets:8'],
    },
    {
      name: 'that is printed so that logs do not mask it is named',
      text: job('- run: echo "$KEY" | base64', '  env:', `    KEY: ${ex('secrets.KEY')}`),
      expected: ['high actionlint/secret-printed:6'],
    },
    {
      name: 'that is decoded is harmless',
      text: job('- run: echo "$KEY" | base64 -d > key', '  env:', `    KEY: ${ex('secrets.KEY')}`),
      expected: [],
    },
  ],
  'a script injection': [
    {
      name: 'is placed on its own line of a longer script, which alone was changed',
      text: LONGER,
      changed: [8],
      expected: ['critical actionlint/script-injection:8'],
    },
    { name: 'is none of a change to another line of the script', text: LONGER, changed: [9], expected: [] },
    {
      name: 'is found in each place of a script',
      text: job('- run: |', `    echo ${ex('github.head_ref')}`, `    echo ${TITLE}`),
      expected: ['critical actionlint/script-injection:7', 'critical actionlint/script-injection:8'],
    },
    {
      name: 'is found in the script of actions/github-script',
      text: job(
        '- uses: actions/github-script@v7',
        '  with:',
        `    script: log("${ex('github.event.comment.body')}")`,
      ),
      expected: ['critical actionlint/script-injection:8'],
    },
    {
      name: 'is found in a composite action',
      text: `name: a\nruns:\n  using: composite\n  steps:\n    - shell: bash\n      run: echo ${ex('github.head_ref')}\n`,
      path: 'tools/action.yml',
      expected: ['critical actionlint/script-injection:6'],
    },
    {
      name: 'is none when the value comes by the environment',
      text: job('- run: echo "$TITLE"', '  env:', `    TITLE: ${TITLE}`),
      expected: [],
    },
  ],
  "a checkout of the pull request's code with the repository's secrets": [
    { name: 'is critical', text: CHECKOUT, expected: ['critical actionlint/untrusted-checkout:8'] },
    {
      name: 'is found when only the trigger was changed',
      text: CHECKOUT,
      changed: [1],
      expected: ['critical actionlint/untrusted-checkout:1'],
    },
    { name: 'is none on pull_request', text: CHECKOUT.replace('_target', ''), expected: [] },
  ],
  'what gives outsiders power over a workflow': [
    {
      name: 'is a switch that lets output set variables',
      text: job('- run: ls', '  env: { ACTIONS_ALLOW_UNSECURE_COMMANDS: true }'),
      expected: ['high actionlint/unsecure-commands:7'],
    },
    {
      name: "is an outsider's text in the environment of later steps",
      text: job(`- run: echo "T=${TITLE}" >> "$GITHUB_ENV"`),
      expected: ['critical actionlint/script-injection:6', 'critical actionlint/environment-injection:6'],
    },
    {
      name: 'is a check for a bot by the last actor',
      text: job('- run: ls', `  if: github.actor == 'dependabot[bot]'`),
      expected: ['medium actionlint/bot-check:7'],
    },
    {
      name: 'is not a check for a bot by who opened the pull request',
      text: job('- run: ls', `  if: github.event.pull_request.user.login == 'dependabot[bot]'`),
      expected: [],
    },
    {
      name: 'is a machine of your own for pull requests',
      text: job('- run: ls').replace('on: push', 'on: pull_request').replace('ubuntu-latest', 'self-hosted'),
      expected: ['high actionlint/self-hosted-for-outsiders:4'],
    },
    {
      name: 'is not a machine of your own for pushes',
      text: job('- run: ls').replace('ubuntu-latest', 'self-hosted'),
      expected: [],
    },
    {
      name: 'is a script that is fetched and run at once',
      text: job('- run: curl -sf https://acme.dev/i.sh | sh'),
      expected: ['medium actionlint/pipe-to-shell:6'],
    },
    {
      name: 'is not a script that is fetched and compared first',
      text: job('- run: curl -sfo i.sh https://acme.dev/i.sh && sha256sum -c i.sum && sh i.sh'),
      expected: [],
    },
  ],
  'of other faults of a workflow': [
    {
      name: 'an unknown key is one, as actionlint says',
      text: job('- run: ls', '  shel: bash'),
      expected: ['medium actionlint/syntax-check:7'],
    },
    {
      name: 'an action used by a branch is one',
      text: job('- uses: a/b@main', '- uses: a/b@v1.2.3'),
      expected: ['medium actionlint/moving-action:6'],
    },
    {
      name: 'all permissions are one',
      text: job('- run: ls').replace('jobs:', 'permissions: write-all\njobs:'),
      expected: ['medium actionlint/write-all:2'],
    },
    ...['ubuntu-24.04', 'ubuntu-24.04-arm', 'macos-15'].map((runner) => ({
      name: `a runner that is newer than actionlint, ${runner}, is none`,
      text: job('- run: ls').replace('ubuntu-latest', runner),
      expected: [],
    })),
    {
      name: 'a recent event and recent keys are none',
      text: job('- run: ls').replace('on: push', 'on: [merge_group, push]\nrun-name: x\nconcurrency: y'),
      expected: [],
    },
  ],
};

const actionlint = (...files: ChangedFile[]) => review(files, { analyzers: ['actionlint'] });

describe('actionlint with our own rules', () => {
  const all = Object.values(CASES).flat();
  const pathOf = (one: Case) => one.path ?? `.github/workflows/${all.indexOf(one)}.yml`;
  let findings: Finding[];

  // One process for all rows, as in a review: starting one takes longer than checking a hundred files.
  beforeAll(async () => {
    const report = await actionlint(
      ...all.map((one) =>
        one.changed ? modified(pathOf(one), one.text, one.changed) : added(pathOf(one), one.text),
      ),
    );
    expect(report.analyzers).toMatchObject([{ name: 'actionlint', status: 'ok', files: all.length }]);
    findings = report.findings;
  });

  describe.each(Object.entries(CASES))('%s', (_, cases) => {
    test.each(cases)('$name', (one) => {
      expect(placesOf(findings.filter(({ file }) => file === pathOf(one)))).toEqual(one.expected);
    });
  });

  eachFirstQuick([
    [
      'an expression inside quotes',
      job(`- run: echo "by ${TITLE}"`),
      ['      - run: echo "by ${TITLE}"', '        env:', `          TITLE: ${TITLE}`],
    ],
    [
      'an expression without quotes',
      job('- name: a', `  run: echo ${TITLE}`),
      ['        run: echo "${TITLE}"', '        env:', `          TITLE: ${TITLE}`],
    ],
    [
      'a check for a bot',
      job("- if: github.actor == 'a[bot]'", '  run: ls').replace('on: push', 'on: pull_request'),
      ["      - if: github.event.pull_request.user.login == 'a[bot]'"],
    ],
  ])('suggests a correction of %s that is valid YAML', async (_, text, lines) => {
    const report = await review([added('.github/workflows/a.yml', text)], {
      analyzers: ['secrets', 'actionlint'],
    });
    const found = report.findings.find(({ fix }) => fix !== undefined);
    expect(found?.fix).toBe(lines.join('\n'));
    const corrected = text.split('\n').toSpliced((found?.line ?? 1) - 1, 1, ...lines);
    const again = await actionlint(added('.github/workflows/a.yml', corrected.join('\n')));
    expect(again.findings).toEqual([]);
  });

  eachFirstQuick([
    ['single quotes', job(`- run: echo '${TITLE}'`)],
    ['a step with variables of its own', job(`- run: echo "${TITLE}"`, '  env: { A: b }')],
    ['a step with a shell of its own', job(`- run: echo "${TITLE}"`, '  shell: pwsh')],
  ])('suggests nothing for an expression in %s', async (_, text) => {
    const report = await review([added('.github/workflows/a.yml', text)], {
      analyzers: ['secrets', 'actionlint'],
    });
    expect(report.findings).toMatchObject([{ rule: 'actionlint/script-injection' }]);
    expect(report.findings[0]).not.toHaveProperty('fix');
  });

  test('reports invalid YAML, and still checks the next file', { tags: 'slow' }, async () => {
    const report = await actionlint(
      added('.github/workflows/a.yml', 'on: push\njobs: ['),
      added('.github/workflows/z.yml', job('- run: ls', '  shel: bash')),
    );
    expect(report.analyzers).toMatchObject([{ status: 'ok' }]);
    expect(placesOf(report.findings)).toEqual([
      'high actionlint/invalid-yaml:2',
      'medium actionlint/syntax-check:7',
    ]);
  });

  test('reads odd files without a crash', { tags: 'slow' }, async () => {
    const odd = [
      '',
      '- a',
      'just text',
      '&a [*a]',
      'jobs: {a: {steps: {}}}',
      'jobs: {a: {steps: [null, 1, {run: {}}]}}',
    ];
    const report = await actionlint(
      ...odd.map((text, index) => added(`.github/workflows/${index}.yml`, text)),
    );
    expect(report.analyzers).toMatchObject([{ status: 'ok', files: odd.length }]);
  });
});
