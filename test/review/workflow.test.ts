import { beforeAll, describe, expect, test } from 'vitest';
import type { Finding } from '../../src/outcome/finding.ts';
import type { ChangedFile } from '../../src/skill/pr-review/changed-file.ts';
import { added, modified, placesOf, review } from './support.ts';

const WORKFLOW = '.github/workflows/ci.yml';
/** `${{ text }}`, spelt so that this file holds no template literal by accident. */
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

async function found(...files: ChangedFile[]) {
  const report = await review(files, { analyzers: ['actionlint'] });
  expect(report.analyzers).toMatchObject([{ name: 'actionlint', status: 'ok' }]);
  return placesOf(report.findings);
}

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
const HARMLESS = [
  'github.event.number',
  'github.sha',
  'github.event.pull_request.head.sha',
  'secrets.TOKEN',
  'vars.NAME',
];

describe('an expression in a script', () => {
  const all = [...INJECTIONS, ...HARMLESS];
  const pathOf = (expression: string) => `.github/workflows/${all.indexOf(expression)}.yml`;
  let findings: Finding[];

  beforeAll(async () => {
    const files = all.map((expression) => added(pathOf(expression), job(`- run: echo "${ex(expression)}"`)));
    ({ findings } = await review(files, { analyzers: ['actionlint'] }));
  });

  test.each(INJECTIONS)('%s is a critical injection', (expression) => {
    const here = findings.filter((finding) => finding.file === pathOf(expression));
    expect(placesOf(here)).toContain('critical actionlint/script-injection:6');
  });

  test.each(HARMLESS)('%s is harmless', (expression) => {
    expect(findings.filter((finding) => finding.file === pathOf(expression))).toEqual([]);
  });
});

describe('a script injection', () => {
  test('is placed on its own line of a longer script, which alone was changed', async () => {
    const text = job(
      '- run: |',
      '    echo one',
      `    echo ${ex('github.event.issue.title')}`,
      '    echo two',
    );
    expect(await found(modified(WORKFLOW, text, [8]))).toEqual(['critical actionlint/script-injection:8']);
    expect(await found(modified(WORKFLOW, text, [9]))).toEqual([]);
  });

  test('is found in each place of a script', async () => {
    const text = job(
      '- run: |',
      `    echo ${ex('github.head_ref')}`,
      `    echo ${ex('github.event.issue.title')}`,
    );
    expect(await found(added(WORKFLOW, text))).toEqual([
      'critical actionlint/script-injection:7',
      'critical actionlint/script-injection:8',
    ]);
  });

  test('is found in the script of actions/github-script', async () => {
    const text = job(
      '- uses: actions/github-script@v7',
      '  with:',
      `    script: log("${ex('github.event.comment.body')}")`,
    );
    expect(await found(added(WORKFLOW, text))).toEqual(['critical actionlint/script-injection:8']);
  });

  test('is found in a composite action', async () => {
    const text = `name: a\nruns:\n  using: composite\n  steps:\n    - shell: bash\n      run: echo ${ex('github.head_ref')}\n`;
    expect(await found(added('tools/action.yml', text))).toEqual(['critical actionlint/script-injection:6']);
  });

  test('is none when the value comes by the environment', async () => {
    const text = job('- run: echo "$TITLE"', '  env:', `    TITLE: ${ex('github.event.issue.title')}`);
    expect(await found(added(WORKFLOW, text))).toEqual([]);
  });
});

describe("a checkout of the pull request's code with the repository's secrets", () => {
  const steps = [
    '- uses: actions/checkout@v4',
    '  with:',
    `    ref: ${ex('github.event.pull_request.head.sha')}`,
  ];
  const text = job(...steps).replace('on: push', 'on: pull_request_target');

  test('is critical', async () => {
    expect(await found(added(WORKFLOW, text))).toEqual(['critical actionlint/untrusted-checkout:8']);
  });

  test('is found when only the trigger was changed', async () => {
    expect(await found(modified(WORKFLOW, text, [1]))).toEqual(['critical actionlint/untrusted-checkout:1']);
  });

  test('is none on pull_request', async () => {
    expect(await found(added(WORKFLOW, text.replace('_target', '')))).toEqual([]);
  });
});

describe('other faults of a workflow', () => {
  test('an unknown key, as actionlint says', async () => {
    expect(await found(added(WORKFLOW, job('- run: ls', '  shel: bash')))).toEqual([
      'medium actionlint/syntax-check:7',
    ]);
  });

  test('an action used by a branch', async () => {
    expect(await found(added(WORKFLOW, job('- uses: a/b@main', '- uses: a/b@v1.2.3')))).toEqual([
      'medium actionlint/moving-action:6',
    ]);
  });

  test('all permissions', async () => {
    const text = job('- run: ls').replace('jobs:', 'permissions: write-all\njobs:');
    expect(await found(added(WORKFLOW, text))).toEqual(['medium actionlint/write-all:2']);
  });

  test('YAML that is none, without harm to the next file', async () => {
    const other = added('.github/workflows/z.yml', job('- run: ls', '  shel: bash'));
    expect(await found(added(WORKFLOW, 'on: push\njobs: ['), other)).toEqual([
      'high actionlint/invalid-yaml:2',
      'medium actionlint/syntax-check:7',
    ]);
  });

  test('odd files are looked at without a crash', async () => {
    const odd = [
      '',
      '- a',
      'just text',
      '&a [*a]',
      'jobs: {a: {steps: {}}}',
      'jobs: {a: {steps: [null, 1, {run: {}}]}}',
    ];
    const files = odd.map((text, index) => added(`.github/workflows/${index}.yml`, text));
    const report = await review(files, { analyzers: ['actionlint'] });
    expect(report.analyzers).toMatchObject([{ status: 'ok', files: odd.length }]);
  });

  test('runners that are newer than actionlint are none', async () => {
    const files = ['ubuntu-24.04', 'ubuntu-24.04-arm', 'macos-15'].map((runner, index) =>
      added(`.github/workflows/${index}.yml`, job('- run: ls').replace('ubuntu-latest', runner)),
    );
    expect(await found(...files)).toEqual([]);
  });

  test('a recent event and recent keys are none', async () => {
    const text = job('- run: ls').replace('on: push', 'on: [merge_group, push]\nrun-name: x\nconcurrency: y');
    expect(await found(added(WORKFLOW, text))).toEqual([]);
  });
});
