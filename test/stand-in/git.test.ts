import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changesBetween } from '../support/github/git/changes.ts';
import { mergeBase } from '../support/github/git/history.ts';
import { diffLines, mergeTexts, splitLines } from '../support/github/git/lines.ts';
import { type FileInput, GitObjects } from '../support/github/git/objects.ts';
import { diffTexts } from '../support/github/git/patch.ts';

const who = { name: 'eve', email: 'eve@example.com', date: new Date(0) };
/** Few different lines, so that generated texts share many. */
const text = fc
  .array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n'), { maxLength: 12 })
  .map((lines) => lines.join(''));

function files(git: GitObjects, content: Record<string, FileInput>) {
  return git.writeFiles(new Map(), content);
}

describe('git objects', () => {
  it('have the names that git gives them', () => {
    const git = new GitObjects();
    const input = { parents: [], author: who, committer: who, message: 'm' };
    expect(git.writeBlob(Buffer.from('hello\n'))).toBe('ce013625030ba8dba906f756967f9e9ca394464a');
    expect(git.writeCommit({ ...input, files: new Map() }).tree).toBe(
      '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
    );
  });

  it('sort a folder as git does, as if its name ended in a slash', () => {
    const git = new GitObjects();
    const commit = git.writeCommit({
      parents: [],
      author: who,
      committer: who,
      message: 'm',
      files: files(git, { 'a/x': '1', 'a.txt': '2', 'a-b': '3' }),
    });
    expect(git.tree(commit.tree)?.map(({ name }) => name)).toEqual(['a-b', 'a.txt', 'a']);
  });
});

describe('line diffs', () => {
  it('turn one text into the other', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const [a, b] = [splitLines(before), splitLines(after)];
        let rebuilt = '';
        let position = 0;
        for (const edit of diffLines(a, b)) {
          rebuilt += a.slice(position, edit.from).join('') + b.slice(edit.afterFrom, edit.afterTo).join('');
          position = edit.to;
        }
        expect(rebuilt + a.slice(position).join('')).toBe(after);
      }),
    );
  });

  it('delete and add no more lines than necessary', () => {
    const edits = diffLines([...'abcabba'], [...'cbabac']);
    expect(edits.reduce((sum, edit) => sum + edit.to - edit.from + edit.afterTo - edit.afterFrom, 0)).toBe(5);
  });

  it.each([
    ['a new file', '', 'x\n', '@@ -0,0 +1 @@\n+x'],
    ['a file emptied', 'x\n', '', '@@ -1 +0,0 @@\n-x'],
    ['a lost last line end', 'x\n', 'x', '@@ -1 +1 @@\n-x\n+x\n\\ No newline at end of file'],
    [
      'a line inside a function',
      'function f() {\n  1\n  2\n  3\n  4\n}\n',
      'function f() {\n  1\n  2\n  3\n  5\n}\n',
      '@@ -2,5 +2,5 @@ function f() {\n   1\n   2\n   3\n-  4\n+  5\n }',
    ],
    [
      'changes far apart',
      '1\n2\n3\n4\n5\n6\n7\n8\n9\n',
      'x\n2\n3\n4\n5\n6\n7\n8\ny\n',
      '@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+y',
    ],
  ])('show %s as git does', (_, before, after, patch) => {
    expect(diffTexts(before, after).patch).toBe(patch);
  });
});

describe('merging texts', () => {
  it('takes the side that changed', () => {
    fc.assert(
      fc.property(text, text, (base, changed) => {
        expect(mergeTexts(base, changed, base)).toBe(changed);
        expect(mergeTexts(base, base, changed)).toBe(changed);
      }),
    );
  });

  it('gives the same result from either side', () => {
    fc.assert(
      fc.property(text, text, text, (base, ours, theirs) => {
        expect(mergeTexts(base, ours, theirs)).toBe(mergeTexts(base, theirs, ours));
      }),
    );
  });

  it('joins changes that are apart', () => {
    expect(mergeTexts('1\n2\n3\n4\n', 'x\n2\n3\n4\n', '1\n2\n3\ny\n')).toBe('x\n2\n3\ny\n');
  });

  it('refuses two changes of one line', () => {
    expect(mergeTexts('1\n', 'x\n', 'y\n')).toBeUndefined();
  });
});

describe('changes between trees', () => {
  it('recognise a file that moved and changed a little', () => {
    const git = new GitObjects();
    const before = files(git, { 'old.ts': '1\n2\n3\n4\n' });
    const after = files(git, { 'new.ts': '1\n2\n3\n5\n' });
    expect(changesBetween(git, before, after)).toMatchObject([
      { path: 'new.ts', previousPath: 'old.ts', status: 'renamed', additions: 1, deletions: 1 },
    ]);
  });

  it('have no patch for a binary file', () => {
    const git = new GitObjects();
    const [change] = changesBetween(git, new Map(), files(git, { 'a.png': new Uint8Array([0, 1, 2]) }));
    expect(change).toMatchObject({ status: 'added', additions: 0 });
    expect(change).not.toHaveProperty('patch');
  });

  it('have no patch for a very large change', () => {
    const git = new GitObjects();
    const [change] = changesBetween(git, new Map(), files(git, { 'big.txt': 'x\n'.repeat(3_001) }));
    expect(change).toMatchObject({ additions: 3_001 });
    expect(change).not.toHaveProperty('patch');
  });
});

it('a merge base is the newest common commit', () => {
  const git = new GitObjects();
  const commit = (...parents: string[]) =>
    git.writeCommit({ parents, author: who, committer: who, message: 'm', files: new Map() }).sha;
  const root = commit();
  const side = commit(root);
  const main = commit(commit(root), side);
  expect(mergeBase(git, main, commit(side))).toBe(side);
});
