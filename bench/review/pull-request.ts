import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PullRequestFile } from '../../src/ports/github.ts';
import { diffTexts } from '../../test/support/github/git/patch.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** A pull request that adds this many files: this project's own sources, repeated under other names. */
export function pullRequestOf(count: number): PullRequestFile[] {
  const sources = globSync('src/**/*.ts', { cwd: ROOT })
    .sort()
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
  return Array.from({ length: count }, (_, index) => {
    const { path, text } = sources[index % sources.length] ?? { path: '', text: '' };
    return added(`copy-${Math.floor(index / sources.length)}/${path}`, text);
  });
}

function added(path: string, text: string): PullRequestFile {
  const { patch, additions } = diffTexts('', text);
  return { path, status: 'added', patch, blobSha: path, additions, deletions: 0, headSha: null };
}

/** Ten files alone, and each time one more that is made to exhaust an analyzer. All mention what makes the file worth parsing. */
export function hostilePullRequests(): [name: string, files: PullRequestFile[]][] {
  const reads = 'eval(req.query.code);\n';
  const functions = Array.from(
    { length: 10_000 },
    (_, index) => `function f${index}(a) { return f${(index * 7) % 10_000}(a + '${index}'); }\n`,
  );
  const hostile: [string, string][] = [
    ['1 MB of nested brackets', reads + `${'['.repeat(99)}\n`.repeat(9_990)],
    [
      'a regular expression that is hard to judge',
      `${reads}const p = /^${'(a?b*|[^c]+)*'.repeat(200)}$/;\np.test(x);\n`,
    ],
    ['10,000 functions', `${reads}${functions.join('')}`],
  ];
  const files = pullRequestOf(10);
  return [
    ['none', files],
    ...hostile.map(([name, text]): [string, PullRequestFile[]] => [
      name,
      [...files, added('hostile.js', text)],
    ]),
  ];
}

export function bytesOf(files: readonly PullRequestFile[]): number {
  return files.reduce((sum, { patch = '' }) => sum + Buffer.byteLength(patch), 0);
}
