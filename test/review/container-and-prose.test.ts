import { expect, test } from 'vitest';
import { added, placesOf, review } from './support.ts';

const places = async (path: string, text: string, analyzer: 'dockerfilelint' | 'markdownlint') => {
  const report = await review([added(path, text)], { analyzers: [analyzer] });
  expect(report.analyzers).toMatchObject([{ name: analyzer, status: 'ok' }]);
  return placesOf(report.findings);
};

test.each([
  ['FROM node:latest\n', ['low dockerfilelint/latest_tag:1']],
  ['FROM node\n', ['low dockerfilelint/missing_tag:1']],
  ['FROM node:24.1\nRUN a && \\\n  sudo b\n', ['medium dockerfilelint/sudo_usage:2']],
  ['FROM node:24.1\nEXPOSE 80:8080\n', ['low dockerfilelint/expose_host_port:2']],
  ['FROM node:24.1\nRUN apt-get install x\n', ['medium dockerfilelint/apt-get_missing_param:2']],
  ['FROM node:24.1\nRUN <<EOF\nset -e\nnpm ci\nEOF\n', []],
  ['FROM node:24.1\nRUN a \\\n\\\n', []],
  ['', []],
])('dockerfilelint on %j says %j', async (text, expected) => {
  expect(await places('deploy/Dockerfile', text, 'dockerfilelint')).toEqual(expected);
});

test('markdownlint finds a link written the wrong way round, whatever its comments say', async () => {
  const text = '<!-- markdownlint-disable -->\n\n(text)[https://example.org]\n';
  expect(await places('README.md', text, 'markdownlint')).toEqual(['low markdownlint/MD011:3']);
});

test('markdownlint is off unless asked for', async () => {
  const report = await review([added('README.md', '(text)[https://example.org]\n')]);
  expect(report.analyzers.map(({ name }) => name)).toEqual(['secrets']);
});
