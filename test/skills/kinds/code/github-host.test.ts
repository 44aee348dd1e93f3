import { describe, expect, test } from 'vitest';
import {
  type Commit,
  GitHubError,
  type GitHubReader,
  type PullRequestFile,
} from '../../../../src/ports/github.ts';
import { unifiedDiff } from '../../../../src/skills/kinds/code/diff.ts';
import { gitHubHost } from '../../../../src/skills/kinds/code/github-host.ts';
import { HostRefusal } from '../../../../src/skills/kinds/code/host.ts';

const HEAD = 'c'.repeat(40);
const REPO = { owner: 'acme', name: 'shop' };
const { signal } = new AbortController();

function changed(path: string, more: Partial<PullRequestFile> = {}): PullRequestFile {
  const patch = '@@ -0,0 +1 @@\n+x';
  return {
    path,
    status: 'added',
    patch,
    blobSha: `blob of ${path}`,
    additions: 1,
    deletions: 0,
    headSha: HEAD,
    ...more,
  };
}

interface World {
  files?: PullRequestFile[];
  /** By the name of the blob; a missing one is too large. */
  blobs?: Record<string, string | Uint8Array>;
  reader?: Partial<GitHubReader>;
}

/** The host for a head, with all its requests to GitHub. */
function hostOf({ files = [], blobs = {}, reader = {} }: World) {
  const asked: string[] = [];
  const troubles: GitHubError[] = [];
  const answers: Partial<GitHubReader> = {
    async blob(_, sha, maxBytes) {
      asked.push(`blob ${sha} up to ${maxBytes}`);
      const found = blobs[sha];
      return typeof found === 'string' ? new TextEncoder().encode(found) : found;
    },
    async file(_, path, ref) {
      asked.push(`file ${path} of ${ref.slice(0, 1)}`);
      return path === 'base.ts' ? { path, type: 'file', sha: 'blob of base.ts', size: 1 } : undefined;
    },
    async history(_, path, ref) {
      asked.push(`history ${path} of ${ref.slice(0, 1)}`);
      return [commit('a'.repeat(40), 'x'.repeat(5_000))];
    },
    ...reader,
  };
  const head = { reader: answers as GitHubReader, repo: REPO, sha: HEAD, files };
  return { host: gitHubHost(head, (error) => troubles.push(error)), asked, troubles };
}

function commit(sha: string, message: string): Commit {
  const nobody = { author: null, committer: null, authorEmail: 'a@b.example', committerEmail: null };
  return { sha, message, verified: false, ...nobody };
}

const refusal = (asked: Promise<unknown>) =>
  asked.then(
    () => 'answered',
    (error) => (error instanceof HostRefusal ? error.refused : error),
  );

describe('a file', () => {
  test('that the pull request changes is the head’s, whatever the path is elsewhere', async () => {
    const { host, asked } = hostOf({ files: [changed('base.ts')], blobs: { 'blob of base.ts': 'new' } });
    expect(await host.file('base.ts', signal)).toBe('new');
    expect(asked).toEqual(['blob blob of base.ts up to 1000000']);
  });

  test('that it does not change is read from the head’s commit', async () => {
    const { host, asked } = hostOf({ blobs: { 'blob of base.ts': 'text' } });
    expect(await host.file('base.ts', signal)).toBe('text');
    expect(asked[0]).toBe('file base.ts of c');
  });

  test('that it removes, that does not exist, or that is not text is null', async () => {
    const files = [changed('gone.ts', { status: 'removed' }), changed('image')];
    const { host } = hostOf({ files, blobs: { 'blob of image': new Uint8Array([0xff, 0xfe, 0xff]) } });
    for (const path of ['gone.ts', 'nowhere.ts', 'image']) expect(await host.file(path, signal)).toBeNull();
  });

  test.each(['..', 'a/../../user', '/etc/passwd', '', 'a//b', './a', 'a\0b', '\ud800'])(
    'is never requested from GitHub by the path %j',
    async (path) => {
      const { host, asked } = hostOf({});
      expect(await host.file(path, signal)).toBeNull();
      expect(await host.history(path, signal)).toEqual([]);
      expect(asked).toEqual([]);
    },
  );

  test('that is too large is refused and not cut', async () => {
    const { host } = hostOf({ files: [changed('large')] });
    expect(await refusal(host.file('large', signal))).toMatchObject({
      kind: 'file_too_large',
      path: 'large',
    });
  });

  test('is read from GitHub once, and at most 500 are', async () => {
    const files = Array.from({ length: 501 }, (_, index) => changed(`f${index}`));
    const blobs = Object.fromEntries(files.map(({ blobSha }) => [blobSha ?? '', 'x']));
    const { host, asked } = hostOf({ files, blobs });
    for (const { path } of files.slice(0, 500)) await host.file(path, signal);
    await host.file('f7', signal);
    expect(asked).toHaveLength(500);
    expect(await refusal(host.file('f500', signal))).toEqual({ kind: 'too_many_reads', limit: 500 });
  });
});

describe('a search', () => {
  test('covers the head’s text of changed files, with line numbers', async () => {
    const files = [
      changed('a.ts'),
      changed('b.ts'),
      changed('c.ts', { status: 'removed' }),
      changed('d.png'),
    ];
    const blobs = { 'blob of a.ts': 'one\nfind me\nand find me', 'blob of b.ts': 'none' };
    const { host } = hostOf({ files, blobs: { ...blobs, 'blob of c.ts': 'find', 'blob of d.png': 'find' } });
    expect(await host.search('find', signal)).toEqual([
      { path: 'a.ts', line: 2, text: 'find me' },
      { path: 'a.ts', line: 3, text: 'and find me' },
    ]);
  });

  test('returns at most 200 lines of at most 300 characters', async () => {
    const { host } = hostOf({
      files: [changed('a')],
      blobs: { 'blob of a': `${'x'.repeat(1_000)}\n`.repeat(999) },
    });
    const hits = await host.search('x', signal);
    expect([hits.length, hits[0]?.text.length]).toEqual([200, 300]);
  });

  test('of more than 300 files is refused, because an omitted file would look like no match', async () => {
    const { host } = hostOf({ files: Array.from({ length: 301 }, (_, index) => changed(`f${index}`)) });
    expect(await refusal(host.search('x', signal))).toEqual({ kind: 'too_many_files', limit: 300 });
  });
});

test('a search through a file that is too large is refused', async () => {
  const { host } = hostOf({ files: [changed('large')] });
  expect(await refusal(host.search('x', signal))).toMatchObject({ kind: 'file_too_large', path: 'large' });
});

test('the history of a path is the head’s, with its messages cut', async () => {
  const { host, asked } = hostOf({});
  expect(await host.history('a.ts', signal)).toEqual([
    { sha: 'a'.repeat(40), message: 'x'.repeat(1_000), author: null },
  ]);
  expect(asked).toEqual(['history a.ts of c']);
});

test.each(['unavailable', 'rate_limited', 'forbidden'] as const)(
  'when GitHub is %s the skill fails and gets no answer',
  async (kind) => {
    const error = new GitHubError(kind, 500, 'no');
    const { host, troubles } = hostOf({ reader: { file: () => Promise.reject(error) } });
    expect(await refusal(host.file('base.ts', signal))).toBe(error);
    expect(troubles).toEqual([error]);
  },
);

test('an error of GitHub that the question causes is passed to the program', async () => {
  const error = new GitHubError('invalid', 422, 'a bad path');
  const { host, troubles } = hostOf({ reader: { file: () => Promise.reject(error) } });
  expect(await refusal(host.file('base.ts', signal))).toEqual({ kind: 'by_github', detail: 'a bad path' });
  expect(troubles).toEqual([]);
});

test('the diff is what git would write, whatever the paths are', () => {
  const { patch: _, ...hidden } = changed('image.png');
  const files = [
    changed('new.ts'),
    changed('old.ts', { status: 'removed', patch: '@@ -1 +0,0 @@\n-x' }),
    changed('to.ts', { status: 'renamed', previousPath: 'from.ts' }),
    hidden,
    changed('a\n+++ b/forged.ts'),
  ];
  expect(unifiedDiff(files)).toMatchInlineSnapshot(`
    "diff --git a/new.ts b/new.ts
    --- /dev/null
    +++ b/new.ts
    @@ -0,0 +1 @@
    +x
    diff --git a/old.ts b/old.ts
    --- a/old.ts
    +++ /dev/null
    @@ -1 +0,0 @@
    -x
    diff --git a/from.ts b/to.ts
    rename from from.ts
    rename to to.ts
    --- a/from.ts
    +++ b/to.ts
    @@ -0,0 +1 @@
    +x
    diff --git a/image.png b/image.png
    # GitHub shows no change of it: it is binary or too large
    diff --git "a/a\\n+++ b/forged.ts" "b/a\\n+++ b/forged.ts"
    --- /dev/null
    +++ "b/a\\n+++ b/forged.ts"
    @@ -0,0 +1 @@
    +x
    "
  `);
});
