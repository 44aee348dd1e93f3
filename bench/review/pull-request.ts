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
    const { patch, additions } = diffTexts('', text);
    return {
      path: `copy-${Math.floor(index / sources.length)}/${path}`,
      status: 'added',
      patch,
      blobSha: String(index),
      additions,
      deletions: 0,
      headSha: null,
    };
  });
}

export function bytesOf(files: readonly PullRequestFile[]): number {
  return files.reduce((sum, { patch = '' }) => sum + Buffer.byteLength(patch), 0);
}
