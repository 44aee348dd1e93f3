import { beforeAll, describe, expect, test } from 'vitest';
import type { Finding } from '../../src/domain/outcome/finding.ts';
import { added, placesOf, review } from './support.ts';

describe('dockerfilelint', () => {
  const CASES: [text: string, expected: string[]][] = [
    ['FROM node:latest\n', ['low dockerfilelint/latest_tag:1']],
    ['FROM node\n', ['low dockerfilelint/missing_tag:1']],
    ['FROM node:24.1\nRUN a && \\\n  sudo b\n', ['medium dockerfilelint/sudo_usage:2']],
    ['FROM node:24.1\nEXPOSE 80:8080\n', ['low dockerfilelint/expose_host_port:2']],
    ['FROM node:24.1\nRUN apt-get install x\n', ['medium dockerfilelint/apt-get_missing_param:2']],
    ['FROM node:24.1\nRUN <<EOF\nset -e\nnpm ci\nEOF\n', []],
    ['FROM node:24.1\nRUN a \\\n\\\n', []],
    ['', []],
  ];
  const pathOf = (index: number) => `deploy/${index}/Dockerfile`;
  let findings: Finding[];

  beforeAll(async () => {
    const report = await review(
      CASES.map(([text], index) => added(pathOf(index), text)),
      { analyzers: ['dockerfilelint'] },
    );
    expect(report.analyzers).toMatchObject([{ name: 'dockerfilelint', status: 'ok', files: CASES.length }]);
    findings = report.findings;
  });

  test.each(CASES.map(([text, expected], index) => ({ text, expected, index })))(
    'reports for $text: $expected',
    ({ expected, index }) => {
      expect(placesOf(findings.filter(({ file }) => file === pathOf(index)))).toEqual(expected);
    },
  );
});

test('markdownlint finds a link with swapped brackets, also where comments switch it off', {
  tags: 'slow',
}, async () => {
  const text = '<!-- markdownlint-disable -->\n\n(text)[https://example.org]\n';
  const report = await review([added('README.md', text)], { analyzers: ['markdownlint'] });
  expect(report.analyzers).toMatchObject([{ name: 'markdownlint', status: 'ok' }]);
  expect(placesOf(report.findings)).toEqual(['low markdownlint/MD011:3']);
});

test('markdownlint runs only when asked', { tags: 'slow' }, async () => {
  const report = await review([added('README.md', '(text)[https://example.org]\n')]);
  expect(report.analyzers.map(({ name }) => name)).toEqual(['secrets']);
});
