// @module-tag security

import { describe, expect, test } from 'vitest';
import type { AdmittedFile } from '../../../src/analyzers/admit.ts';
import { linesIn } from '../../../src/analyzers/analyzer.ts';
import type { ChangedFile } from '../../../src/analyzers/changed-file.ts';
import { languageOf } from '../../../src/analyzers/changed-file.ts';
import { conclude } from '../../../src/analyzers/findings.ts';
import { masker } from '../../../src/analyzers/mask.ts';
import type { Rule } from '../../../src/analyzers/rules.ts';
import { verdictOf } from '../../../src/analyzers/verdict.ts';
import { type ChangedLines, changedLines } from '../../../src/core/hunks.ts';
import { readSkills } from '../../../src/engine/configuration/skill-files.ts';
import { INSTALLATION, REPO, startFake } from '../../adapters/octokit/fake-server.ts';
import { added, fake, review } from '../../analyzers/support.ts';
import { withinEffort, withinEffortAsync } from '../../support/effort.ts';
import { ownChildren } from '../../support/own-children.ts';

const MB = 1_000_000;
const at = { headSha: 'a'.repeat(40), round: 1 };
const rules: Record<string, Rule> = {
  r: { severity: 'high', category: 'security', description: 'Wrong ({message}).', suggestion: 'Fix it.' },
  s: { severity: 'high', category: 'secret', description: 'A secret.', suggestion: 'Revoke it.' },
};

function file(lines: readonly string[], changed: ChangedLines): AdmittedFile {
  const text = lines.join('\n');
  return { path: 'a.ts', name: '0001.ts', language: 'typescript', text, lines, changed, test: false };
}

/** Numbers from 1. */
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('the app’s own work for a review, on its only thread,', () => {
  test('is little for 30,000 findings that all reach to the end of a file', { tags: 'slow' }, () => {
    const lines = upTo(30_000).map((line) => `eval( // ${line}`);
    const findings = lines.map((_, index) => ({ file: 0, rule: 'r', line: index + 1, endLine: 30_000 }));
    const changed = new Set(upTo(30_000));
    const concluded = () => conclude([file(lines, changed)], [{ analyzer: 'x', rules, findings }], (s) => s);
    expect(withinEffort(2_500, concluded)).toMatchObject({ more: 29_000 });
  });

  test('is little for 30,000 findings beside 200 secrets', { tags: 'slow' }, () => {
    const secrets = upTo(200).map((number) => `hunter2-${number}-${'x'.repeat(400)}`);
    const lines = upTo(30_000).map((line) => `${'hunter2-'.repeat(200)}${line}`);
    const findings = lines.map((_, index) => ({ file: 0, rule: 'r', line: index + 1, message: 'hunter2-' }));
    const mask = masker(secrets);
    withinEffort(2_500, () => conclude([file(lines, 'all')], [{ analyzer: 'x', rules, findings }], mask));
  });

  test('keeps the place of a finding when only the last of very many lines was changed', () => {
    const findings = [{ file: 0, rule: 'r', line: 1, endLine: 30_000 }];
    const lines = upTo(30_000).map(String);
    const { findings: found } = conclude(
      [file(lines, new Set([29_999]))],
      [{ analyzer: 'x', rules, findings }],
      undefined,
    );
    expect(found).toMatchObject([{ line: 29_999 }]);
  });

  test('neither searches a line of 1 MB for secrets nor shows it', () => {
    const findings = [{ file: 0, rule: 's', line: 1 }];
    const { findings: found } = conclude(
      [file(['x'.repeat(MB)], 'all')],
      [{ analyzer: 'x', rules, findings }],
      (text) => text,
    );
    expect(found[0]).not.toHaveProperty('evidence');
  });

  const PATCHES: [name: string, patch: string][] = [
    ['absurd counts', '@@ -1,99999999999999999999 +1,99999999999999999999 @@\n+a'],
    ['an absurd line number', '@@ -0,0 +99999999999999999999 @@\n+a'],
    ['only headers', '@@ -1 +1 @@\n'.repeat(MB / 12)],
    ['half headers', '@@ -1,'.repeat(MB / 6)],
    ['digits', `@@ -${'1'.repeat(MB)}`],
    ['only backslashes', '\\\n'.repeat(MB / 2)],
    ['overlapping hunks', '@@ -0,0 +1,2 @@\n+a\n+b\n'.repeat(MB / 24)],
  ];
  test.each(PATCHES)('is little for a patch with %s, and every line counts', (_, patch) => {
    const lines = withinEffort(500, () => changedLines(patch, 'x\n'.repeat(1_000)));
    expect(lines === 'all' || lines.size === 0).toBe(true);
  });

  test.each([
    ['dots', '.'.repeat(4_000)],
    ['slashes', 'a/'.repeat(2_000)],
    ['underscores', '_pb2_grpc'.repeat(450)],
    ['extensions', '.min.bundle.generated.test.spec'.repeat(120)],
  ])('is little to sort a file name of 4,000 %s', (_, path) => {
    withinEffort(50, () => languageOf(path));
  });
});

test('finding the lines of 100,000 places in a text of 1 MB takes little work', () => {
  const text = 'a\n'.repeat(MB / 2);
  const lineAt = linesIn(text);
  withinEffort(500, () => upTo(100_000).map((place) => lineAt(place * 10)));
  expect([0, 1, 2, 3, MB].map(lineAt)).toEqual([1, 1, 2, 2, MB / 2 + 1]);
});

describe('a file of a gigabyte', () => {
  test.each([10 ** 6, 10 ** 9])(
    'of a skill, of %i bytes by GitHub’s list, is never requested',
    async (size) => {
      const folder = '.github/countersign/skills/big';
      const entry = { path: `${folder}/SKILL.md`, type: 'file' as const, sha: 'a'.repeat(40), size };
      const asked: string[] = [];
      const packages = await readSkills([entry], '.github/countersign/skills', '', async ({ path }) => {
        asked.push(path);
        return '';
      });
      expect(asked).toEqual([]);
      expect(packages.map(({ skill }) => skill)).toEqual([undefined]);
    },
  );

  test('is not read in full if GitHub sends it: the answer is cut off after little more than 1 MB', async () => {
    const { on, github } = await startFake();
    const sha = 'b'.repeat(40);
    let sent = 0;
    on(`GET /repos/acme/shop/git/blobs/${sha}`, (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"encoding":"base64","size":1000000000,"content":"');
      const goOn = () => {
        while (sent < 1.4 * 1_000 * MB && !response.destroyed) {
          sent += 65_536;
          if (!response.write('A'.repeat(65_536))) return response.once('drain', goOn);
        }
        return response.end('"}');
      };
      goOn();
      return undefined;
    });
    const content = await github.reader(INSTALLATION).blob(REPO, sha, MB);
    expect(content).toBeUndefined();
    // What is in the sockets' buffers was sent, too.
    expect(sent).toBeLessThan(20 * MB);
  });
});

describe('a repository made to stop the review', () => {
  const lines = (line: (number: number) => string, count: number) => `${upTo(count).map(line).join('\n')}\n`;
  const FILES: ChangedFile[] = [
    added('minified.js', 'a=1;'.repeat(1.25 * MB)),
    added('one-line.js', 'a=1;'.repeat(MB / 5)),
    added('nested.js', 'eval(\n'.repeat(100_000)),
    added('nested.py', '('.repeat(50_000)),
    added(
      'secrets.ts',
      lines((n) => fake('x.pass', `word="aB3$k${n.toString(36)}zQ"`), 3_000),
    ),
    added('keys.pem', fake('-----BEGIN RSA ', 'PRIVATE KEY-----\n').repeat(3_000)),
    added('almost.txt', 'postgres://aaaa:bbbb'.repeat(5_000)),
    added('.github/workflows/laughs.yml', laughs()),
    added('.github/workflows/deep.yml', '['.repeat(20_000)),
    added('archive.zip', 'PK'),
    added('zip-as-code.js', 'PK\u0003\u0004\0\0'),
    { path: 'huge.ts', status: 'added', leftOut: 'larger than 1 MB', changes: 10 ** 9 },
  ];

  test('is reviewed as far as possible, leaves no process behind, takes little of the app’s work, and gets no approval', {
    tags: 'slow',
  }, async () => {
    // Everything that this thread does for the review: at most for so long, nobody else is served.
    const report = await withinEffortAsync(3_000, () => review(FILES));
    expect(ownChildren('analyzers/worker/main.')).toEqual([]);
    const { verdict } = verdictOf(report, at);
    expect(verdict).not.toMatch(/APPROVE/);
    expect(report.leftOut.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['minified.js', 'one-line.js', 'archive.zip', 'zip-as-code.js', 'huge.ts']),
    );
    expect(report.findings.length).toBeGreaterThan(100);
    expect(JSON.stringify(report)).not.toContain('aB3$k');
  });
});

/** Nine levels of nine aliases each: 387 million values, if anybody expanded them. */
function laughs(): string {
  const names = [...'abcdefghi'];
  const levels = names.map((name, index) => {
    const before = names[index - 1];
    return `${name}: &${name} [${Array(9)
      .fill(before === undefined ? 'lol' : `*${before}`)
      .join(', ')}]`;
  });
  return [...levels, 'on: *i', 'jobs: {}', ''].join('\n');
}
