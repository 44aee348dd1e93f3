import { describe, expect, test } from 'vitest';
import { checkWorkflow } from '../../../src/analyzers/builtin/workflow-security.ts';
import { describeRules, type Row } from './table.ts';

const SHA = '0123456789abcdef0123456789abcdef01234567';
const ex = (text: string) => `$\{{ ${text} }}`;

/** A workflow whose only job has these lines. */
const job = (lines: readonly string[], { on = 'push', top = 'permissions: { contents: read }' } = {}) =>
  [`on: ${on}`, top, 'jobs:', '  a:', ...lines.map((line) => `    ${line}`), ''].join('\n');
const steps = (...lines: string[]) =>
  job(['runs-on: ubuntu-latest', 'steps:', ...lines.map((line) => `  ${line}`)]);

const found = (text: string, path = '.github/workflows/ci.yml') =>
  checkWorkflow({ text, path }).map(({ rule, line }) => `${rule}:${line}`);

const ROWS: Row<string>[] = [
  ['unpinned-action', steps('- uses: a/b@v4'), steps(`- uses: a/b@${SHA} # v4`, '- uses: ./here')],
  ['unpinned-action', steps('- uses: a/b'), steps(`- uses: a/b/c@${SHA}`)],
  [
    'unpinned-action',
    job(['uses: a/b/.github/workflows/c.yml@main']),
    job(['uses: ./.github/workflows/c.yml']),
  ],
  ['unpinned-image', steps('- uses: docker://alpine'), steps('- uses: docker://alpine:3.20')],
  ['unpinned-image', job(['container: node:latest']), job(['container: { image: "node:24" }'])],
  [
    'unpinned-image',
    job(['services:', '  db: { image: postgres }']),
    job(['services:', `  db: { image: "postgres@sha256:${'0'.repeat(64)}" }`]),
  ],
  [
    'self-hosted-for-outsiders',
    job(['runs-on: [self-hosted, linux]'], { on: '[push, pull_request]' }),
    job(['runs-on: [self-hosted, linux]']),
  ],
  [
    'self-hosted-for-outsiders',
    job(['runs-on: { group: x, labels: self-hosted }'], { on: '{ issue_comment: { types: [created] } }' }),
    job(['runs-on: ubuntu-latest'], { on: 'pull_request' }),
  ],
  [
    'secret-in-script',
    steps(`- run: login ${ex('secrets.TOKEN')}`),
    steps('- run: login "$TOKEN"', '  env:', `    TOKEN: ${ex('secrets.TOKEN')}`),
  ],
  ['secrets-inherited', job(['secrets: inherit']), job([`secrets: { a: "${ex('secrets.A')}" }`])],
  [
    'pipe-to-shell',
    steps('- run: curl -fsSL https://x.test/i.sh | sudo bash'),
    steps('- run: curl https://x.test | jq .'),
  ],
  ['no-permissions', job(['steps: []'], { top: '' }), job(['permissions: {}', 'steps: []'], { top: '' })],
];

describeRules('workflow-security', ROWS, (text) => found(text).map((one) => one.replace(/:\d+$/, '')));

describe('a workflow', () => {
  test('is reported at the wrong line of a longer script', () => {
    const text = steps(
      '- run: |',
      '    echo one',
      `    echo ${ex('secrets.A')}`,
      `    echo ${ex('secrets.B')}`,
    );
    expect(found(text)).toEqual(['secret-in-script:9', 'secret-in-script:10']);
  });

  test('with a self-hosted runner is reported also when only its trigger was changed', () => {
    const text = job(['runs-on: self-hosted'], { on: 'pull_request' });
    expect(checkWorkflow({ text, path: '.github/workflows/ci.yml' })).toMatchObject([
      { line: 5, alsoAt: [1] },
    ]);
  });

  test('in an action file is checked by the rules that apply there', () => {
    const action = `runs:\n  using: composite\n  steps:\n    - uses: a/b@v1\n`;
    expect(found(action, 'tools/action.yml')).toEqual(['unpinned-action:4']);
    expect(found('runs: { using: docker, image: "docker://alpine" }\n', 'action.yml')).toEqual([
      'unpinned-image:1',
    ]);
  });

  test.each([
    '',
    '[',
    'a: [',
    '- 1',
    'jobs: 7',
    'jobs: { a: 1, b: [] }',
    'on: {}\njobs:\n  a: { steps: { x: y } }',
  ])('of another shape causes no error: %j', (text) => {
    expect(() => found(text)).not.toThrow();
  });
});
