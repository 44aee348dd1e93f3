// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these strings are the code under review
import { beforeAll, describe, expect, test } from 'vitest';
import type { Finding } from '../../src/domain/outcome/finding.ts';
import { added, review } from './support.ts';

/** One line with a weakness, and the line that the review suggests in its place. */
const ROWS: readonly (readonly [path: string, weak: string, suggested: string])[] = [
  ['a.ts', 'connect({ rejectUnauthorized: false });', 'connect({ rejectUnauthorized: true });'],
  ['a.ts', 'options.rejectUnauthorized = false;', 'options.rejectUnauthorized = true;'],
  ['a.ts', "connect({ minVersion: 'TLSv1' });", "connect({ minVersion: 'TLSv1.2' });"],
  ['a.ts', 'parseXml(text, { noent: true });', 'parseXml(text, { noent: false });'],
  ['a.ts', 'jwt.verify(t, k, { ignoreExpiration: true });', 'jwt.verify(t, k, { ignoreExpiration: false });'],
  [
    'a.ts',
    "document.body.innerHTML = 'Hello ' + location.hash;",
    "document.body.textContent = 'Hello ' + location.hash;",
  ],
  [
    'a.js',
    "exports.log = (name, done) => require('child_process').exec(`git log --author=${name} -n 1`, done);",
    "exports.log = (name, done) => require('child_process').execFile('git', ['log', `--author=${name}`, '-n', '1'], done);",
  ],
  [
    'b.js',
    'exports.pack = (o) => require("node:child_process").execSync(`tar -cf out.tar \'a b\' "${o.folders}"`, { cwd: o.root });',
    "exports.pack = (o) => require(\"node:child_process\").execFileSync('tar', ['-cf', 'out.tar', 'a b', o.folders], { cwd: o.root });",
  ],
  ['a.py', 'rules = yaml.load(text)', 'rules = yaml.safe_load(text)'],
  ['a.py', 'rules = yaml.load(text, Loader=yaml.Loader)', 'rules = yaml.safe_load(text)'],
  ['a.py', 'torch.load(path, weights_only=False)', 'torch.load(path, weights_only=True)'],
  ['a.py', 'requests.get(u, verify=False)', 'requests.get(u, verify=True)'],
  ['a.py', 'app.run(debug=True)', 'app.run(debug=False)'],
  ['a.go', 'var c = tls.Config{InsecureSkipVerify: true}', 'var c = tls.Config{InsecureSkipVerify: false}'],
  [
    'a.go',
    'var c = tls.Config{MinVersion: tls.VersionTLS10}',
    'var c = tls.Config{MinVersion: tls.VersionTLS12}',
  ],
];

/** Near misses: what is wrong is clear, and what would be right is not. */
const UNSURE: readonly (readonly [path: string, weak: string])[] = [
  ['b.ts', "document.body.innerHTML = '<b>' + location.hash;"],
  ['b.ts', 'document.body.innerHTML = location.hash;'],
  ['b.ts', 'connect({ checkServerIdentity: () => undefined });'],
  ...[
    '`ls ${name} | wc -l`',
    '`cd ${name}`',
    '`git log ${flags}`',
    '`git log ${name + 1}`',
    '`git log "${name}`',
    '`${name} log`',
    "'git log ' + name",
    '`git log ${name}`, { shell: true }',
    '`git log ${name}`, { ...flags }',
  ].map((given): [string, string] => [
    'c.js',
    `exports.run = (name, flags) => require('child_process').exec(${given});`,
  ]),
  [
    'd.js',
    "const { exec } = require('child_process'); exports.run = (name) => exec(`git log ${name}`, () => {});",
  ],
  ['b.py', 'rules = yaml.load(read(text, 1))'],
  ['b.go', 'var c = ssh.InsecureIgnoreHostKey()'],
];

const ANALYZERS = ['secrets', 'data-flow', 'ast-grep'] as const;

describe('a suggestion', () => {
  let findings: Finding[];
  const pathOf = (index: number, path: string) => `src/${index}/${path}`;

  beforeAll(async () => {
    const files = [...ROWS, ...UNSURE].map(([path, weak], index) => added(pathOf(index, path), `${weak}\n`));
    findings = (await review(files, { analyzers: ANALYZERS })).findings;
  });

  test.each(ROWS.map(([path, weak, suggested], index) => ({ path, weak, suggested, index })))(
    'replaces $weak',
    ({ path, suggested, index }) => {
      const mine = findings.filter(({ file }) => file === pathOf(index, path));
      expect(mine).toMatchObject([{ line: 1, fix: suggested }]);
    },
  );

  test('leaves code in which nothing is found any more, and which can be parsed', async () => {
    const files = ROWS.map(([path, , suggested], index) => added(pathOf(index, path), `${suggested}\n`));
    expect((await review(files, { analyzers: [...ANALYZERS, 'oxlint'] })).findings).toEqual([]);
  });

  test.each(UNSURE.map(([path, weak], index) => ({ path, weak, index: index + ROWS.length })))(
    'is missing for $weak',
    ({ path, index }) => {
      const mine = findings.filter(({ file }) => file === pathOf(index, path));
      expect(mine).toHaveLength(1);
      expect(mine[0]).not.toHaveProperty('fix');
    },
  );
});
