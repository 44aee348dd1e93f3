import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/core/log.ts';
import { GitHubError, type GitHubReader } from '../../../../src/ports/github.ts';
import { nearest, readNeighbours } from '../../../../src/skills/builtin/review/model/neighbours.ts';
import { fake } from '../../../analyzers/support.ts';
import { stepContext } from '../../../support/step-context.ts';
import { admitted, changed } from './support.ts';

const entry = (path: string, size = 100) => ({ path, type: 'file' as const, sha: path, size });
const change = changed('src/db/users.ts', 'a\n', "import { nameOf } from '../text/names.ts';\n");
const chosen = (paths: readonly string[]) =>
  nearest(
    paths.map((path) => entry(path)),
    admitted(change),
  ).map(({ path }) => path);

describe('the files around a change are read', () => {
  it('with those that it imports first, then by the folders in between', () => {
    expect(
      chosen(['lib/far/away.ts', 'src/web/page.ts', 'src/text/names.ts', 'src/db/orders.ts', 'src/main.ts']),
    ).toEqual(['src/text/names.ts', 'src/db/orders.ts', 'src/main.ts', 'src/web/page.ts', 'lib/far/away.ts']);
  });

  it('if they are code of its language, and neither empty nor large', () => {
    expect(chosen(['src/db/a.js', 'src/db/b.py', 'src/db/c.md', 'src/db/package-lock.json'])).toEqual([
      'src/db/a.js',
    ]);
    expect(nearest([entry('src/db/a.ts', 60_001), entry('src/db/b.ts', 0)], admitted(change))).toEqual([]);
  });
});

/** Reads around the change in a repository with these files. */
async function read(files: Record<string, string>, fault?: GitHubError) {
  const asked: string[] = [];
  const reader = {
    tree: async () => {
      asked.push('tree');
      if (fault) throw fault;
      return Object.entries(files).map(([path, text]) => entry(path, text.length));
    },
    blob: async (_: unknown, sha: string) => {
      asked.push(sha);
      return Buffer.from(files[sha] ?? '');
    },
  } as unknown as GitHubReader;
  const step = stepContext('skill: pr-review', { reader, log: silentLog });
  const { files: found, mask } = await readNeighbours(step, admitted(change), [change], undefined);
  return { asked, paths: found.map(({ path }) => path), mask };
}

describe('reading around a change', () => {
  it('takes at most 13 requests, however many files a repository has', { tags: 'slow' }, async () => {
    const many = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, n) => [`src/db/names-${n}/names.ts`, 'x();\n']),
    );
    expect((await read(many)).asked).toHaveLength(13);
  });

  it('leaves out the change itself, and files that have nothing to do with it', {
    tags: 'slow',
  }, async () => {
    const { paths } = await read({
      'src/db/users.ts': 'own',
      'src/db/orders.ts': 'find();\n',
      'src/web/page.ts': "import { find } from '../db/users.ts';\nfind();\n",
      'src/web/other.ts': 'find();\n',
    });
    expect(paths.toSorted()).toEqual(['src/db/orders.ts', 'src/web/page.ts']);
  });

  it('searches what it reads for secrets', async () => {
    const password = fake('Tr0ub4', 'dor&3x');
    const { mask } = await read({ 'src/db/orders.ts': `const dbPassword = '${password}';\n` });
    expect(mask(`dbPassword = '${password}'`)).not.toContain(password);
  });

  it('gives nothing if GitHub does not answer', async () => {
    expect((await read({}, new GitHubError('unavailable', 503, 'down'))).paths).toEqual([]);
  });
});
