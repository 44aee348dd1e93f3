// @module-tag slow
import { expect, test } from 'vitest';
import type { Finding } from '../../src/domain/outcome/finding.ts';
import { added, modified, placesOf, review } from './support.ts';

const INJECTION = `      - run: echo \${{ github.event.issue.title }}`;
const WORKFLOW = ['on: push', 'jobs:', '  a:', '    runs-on: ubuntu-latest', '    steps:', INJECTION];

const of = (findings: readonly Finding[], file: string) =>
  placesOf(findings.filter((finding) => finding.file === file));

/**
 * An analyzer does not check a file that it cannot parse, so silence would approve lines that nobody saw. Once the syntax is
 * fixed, those lines are no longer among the changed ones.
 */
test('a file that cannot be parsed is reported, wherever in it the error is', async () => {
  const { findings } = await review([
    added('.github/workflows/end.yml', [...WORKFLOW, '  b: {', ''].join('\n')),
    modified('.github/workflows/old.yml', ['on: [push', ...WORKFLOW.slice(1), ''].join('\n'), [6]),
    modified('old.js', 'type A = {| a: number |};\nlet x = 1;\nif (x = 2) {}\n', [3]),
    modified('old.py', 'print "old"\nimport os\n', [2]),
  ]);
  expect(of(findings, '.github/workflows/end.yml')).toEqual(['high actionlint/invalid-yaml:7']);
  expect(of(findings, '.github/workflows/old.yml')).toEqual(['high actionlint/invalid-yaml:6']);
  expect(of(findings, 'old.js')).toEqual(['medium oxlint/parse-error:3']);
  expect(of(findings, 'old.py')).toEqual(['medium ruff/parse-error:2']);
  expect(findings.map(({ description }) => description)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^The file is not valid YAML \(line 8: Flow map .*\), so GitHub will not run it/),
      expect.stringMatching(/^This file cannot be parsed \(line 1: /),
      expect.stringMatching(/^Python cannot parse this file \(line 1: /),
    ]),
  );
});
