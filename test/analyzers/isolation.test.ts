// @module-tag security

import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ReviewReport } from '../../src/analyzers/report.ts';
import { verdictOf } from '../../src/analyzers/verdict.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { ownChildren } from '../support/own-children.ts';
import { added, fake, placesOf, review } from './support.ts';

const broken = (name: string) => ({ name, module: new URL(`./fixtures/${name}.mjs`, import.meta.url) });
const clean = added('a.ts', 'export const a = 1;\n');
const at = { headSha: 'a'.repeat(40), round: 1 };

const workers = () => ownChildren('analyzers/worker/main.');

describe('an analyzer that fails', () => {
  describe('in its own code', () => {
    let report: ReviewReport;
    beforeAll(async () => {
      report = await review([added('a.ts', 'export const a = 1;\ndebugger;\n')], {
        analyzers: ['secrets', 'oxlint'],
        extra: [broken('throws'), broken('exits')],
      });
    });

    test.each([
      ['throws', 'a bug in this analyzer'],
      ['exits', 'ended with exit code 0 and no result'],
    ])('is reported with what is known of it if it %s', (name, message) => {
      const told = report.analyzers.find((analyzer) => analyzer.name === name);
      expect(told).toMatchObject({ status: 'crashed', message });
    });

    test('leaves the findings of the others, but prevents an approval', () => {
      expect(placesOf(report.findings)).toEqual(['medium oxlint/eslint/no-debugger:2']);
      expect(verdictOf(report, at)).toMatchObject({ verdict: null, passed: null });
    });
  });

  test('because it loops forever times out alone', { tags: 'slow' }, async () => {
    const statuses = ({ analyzers }: ReviewReport) =>
      analyzers.map(({ name, status }) => `${name} ${status}`);
    const others = ['secrets ok', 'data-flow ok', 'oxlint ok', 'ast-grep ok'];
    // Enough for the others on any machine: the limit is extended as long as one of them is not done.
    let report = await review([clean], { timeoutMs: 1 });
    for (let timeoutMs = 2_000; !others.every((one) => statuses(report).includes(one)); timeoutMs *= 3) {
      report = await review([clean], { timeoutMs, extra: [broken('hangs')] });
      expect(statuses(report)).toContain('hangs timed_out');
    }
    expect(statuses(report)).toEqual([...others, 'hangs timed_out']);
    expect(verdictOf(report, at).summary).toBe(
      'No findings in 1 file. The review is incomplete: hangs timed out. So there is no verdict.',
    );
  });

  test('and kills its process crashes alone', { tags: 'slow' }, async () => {
    const report = await review([clean], { analyzers: ['oxlint'], extra: [broken('kills-process')] });
    expect(report.analyzers).toMatchObject([
      { name: 'oxlint', status: 'ok' },
      { name: 'kills-process', status: 'crashed' },
    ]);
    expect(verdictOf(report, at).verdict).toBeNull();
  });

  eachFirstQuick(['nonsense', 'floods'])('by an output that %s is crashed', async (name) => {
    const report = await review([clean], { analyzers: [], extra: [broken(name)] });
    expect(report.analyzers).toMatchObject([{ name, status: 'crashed' }]);
  });

  test('at a time limit too short for anything is timed out, never passed', async () => {
    const report = await review([clean], { timeoutMs: 1 });
    expect(new Set(report.analyzers.map(({ status }) => status))).toEqual(new Set(['timed_out']));
    expect(verdictOf(report, at).passed).toBeNull();
  });

  test('leaves blocking findings of the others in force', async () => {
    const report = await review([added('a.ts', 'eval(x)\n')], {
      analyzers: ['oxlint'],
      extra: [broken('throws')],
    });
    expect(verdictOf(report, at)).toMatchObject({
      verdict: 'REQUEST_CHANGES',
      summary: '1 high finding in 1 file must be fixed first. The review is incomplete: throws crashed.',
    });
  });

  test('never shows text of the files if the search for secrets did not run', async () => {
    const password = fake('Tr0ub4dor', '&3');
    const report = await review([added('a.ts', `eval("${password}" + x)\n`)], { analyzers: ['oxlint'] });
    expect(report.findings).toHaveLength(1);
    expect(JSON.stringify(report)).not.toContain(password);
  });
});

describe('the child process', () => {
  test('is gone after an abort, and the caller gets the abort', async () => {
    const controller = new AbortController();
    const running = review([clean], { signal: controller.signal, analyzers: [], extra: [broken('hangs')] });
    const outcome = expect(running).rejects.toThrow('the run was superseded');
    while (workers().length === 0) await sleep(20);
    controller.abort(new Error('the run was superseded'));
    await outcome;
    expect(workers()).toEqual([]);
  });

  test('is gone after a review', { tags: 'slow' }, async () => {
    await review([clean], { analyzers: ['oxlint'] });
    expect(workers()).toEqual([]);
  });

  test('is not started for an aborted signal', async () => {
    await expect(review([clean], { signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow(
      'too late',
    );
  });

  test('sees no environment, neutral names only, and a folder that is removed', async () => {
    const hostile = ['a"b\nc.ts', '-c evil.json', '../x.ts', '.oxlintrc.json', 'é ü.py'];
    const report = await review(
      hostile.map((path) => added(path, 'x = 1\n')),
      {
        analyzers: ['secrets'],
        extra: [broken('tells')],
      },
    );
    const told = JSON.parse(/\{"names".*\}/.exec(report.log)?.[0] ?? '{}');
    expect(told.names).toEqual(['0001.ts', '0002.py', '0003.txt', '0004.txt']);
    expect(told.environment).toEqual([]);
    expect(existsSync(told.folder)).toBe(false);
    expect(report.leftOut).toContainEqual(expect.objectContaining({ path: '../x.ts', needed: true }));
  });
});

test('configuration in the pull request is never read or executed', { tags: 'slow' }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const proof = join(folder, 'it-ran');
  const plugin = `require('node:fs').writeFileSync(${JSON.stringify(proof)}, ''); export default { rules: {} };`;
  const config = JSON.stringify({ jsPlugins: ['./plugin.js'], rules: { 'no-debugger': 'off' } });
  const report = await review([
    added('.oxlintrc.json', config),
    added('src/.oxlintrc.json', config),
    added('oxlint.config.ts', plugin),
    added('plugin.js', plugin),
    added('.eslintrc.js', plugin),
    added('.oxlintignore', '*'),
    added('.eslintignore', '*'),
    added('.gitignore', '*'),
    added('tsconfig.json', '{ "extends": "./plugin.js" }'),
    added('pyproject.toml', '[tool.ruff.lint]\nselect = []\n'),
    added('ruff.toml', 'lint.select = []\n'),
    added('.dockerfilelintrc', 'rules:\n  missing_tag: off\n'),
    added('.github/actionlint.yaml', 'paths: {"**": {ignore: [".*"]}}'),
    added('sgconfig.yml', 'ruleDirs: []'),
    added('.secretlintignore', '*'),
    added('src/a.ts', 'debugger;\n'),
    added('app.py', 'print(nmae)\n'),
    added('Dockerfile', 'FROM node\n'),
  ]);
  expect(
    placesOf(report.findings.filter(({ file }) => /^(?:src\/a\.ts|app\.py|Dockerfile)$/.test(file ?? ''))),
  ).toEqual(['medium ruff/F821:1', 'medium oxlint/eslint/no-debugger:1', 'low dockerfilelint/missing_tag:1']);
  expect(existsSync(proof)).toBe(false);
});
