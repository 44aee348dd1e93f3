import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changedLines, firstChanged, parsePatch } from '../../src/core/hunks.ts';

const addedLines = (patch: string) => [...parsePatch(patch).added.keys()];

describe('parsePatch', () => {
  test('numbers added lines as in the head', () => {
    expect(addedLines('@@ -1,3 +1,4 @@ function f() {\n a\n-b\n+B\n+C\n d')).toEqual([2, 3]);
  });

  test('reads a missing count as one', () => {
    expect(parsePatch('@@ -1 +1 @@\n-a\n+b')).toEqual({ added: new Map([[1, 'b']]), whole: true });
  });

  test('reads several hunks', () => {
    expect(addedLines('@@ -1 +1 @@\n-a\n+b\n@@ -9,0 +10,2 @@\n+x\n+y')).toEqual([1, 10, 11]);
  });

  test('skips the note about a missing newline at the end', () => {
    const patch = '@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file';
    expect(parsePatch(patch)).toEqual({ added: new Map([[1, 'b']]), whole: true });
  });

  test('reads an added line that looks like a hunk header as text', () => {
    expect(addedLines('@@ -0,0 +1,2 @@\n+@@ -1 +900 @@\n+eval(x)')).toEqual([1, 2]);
  });

  test('says that a patch which ends inside a hunk is incomplete', () => {
    expect(parsePatch('@@ -1,2 +1,3 @@\n a\n+b').whole).toBe(false);
  });

  test.each(['garbage', '@@ -1 +1 @@\n-a\n+b\n+c', '@@ -1 +1 @@\n?a'])(
    'says that %j is incomplete',
    (patch) => {
      expect(parsePatch(patch).whole).toBe(false);
    },
  );

  test('finds exactly the inserted lines of any edit, with any number of hunks', () => {
    const edit = fc.array(
      fc.record({
        kind: fc.constantFrom('keep', 'add', 'drop'),
        text: fc.string({ unit: 'grapheme', maxLength: 8 }),
      }),
      { minLength: 1, maxLength: 40 },
    );
    fc.assert(
      fc.property(edit, fc.array(fc.nat(40), { maxLength: 3 }), (edits, cuts) => {
        const lines = edits.map(({ kind, text }) => ({ kind, text: text.replace(/\n/g, '') }));
        const head = lines.filter(({ kind }) => kind !== 'drop').map(({ text }) => text);
        const expected = new Set<number>();
        let at = 1;
        for (const { kind } of lines) {
          if (kind === 'add') expected.add(at);
          if (kind !== 'drop') at++;
        }
        expect(changedLines(patchOf(lines, cuts), head.join('\n'))).toEqual(expected);
      }),
    );
  });

  test('never throws, whatever it gets', () => {
    const piece = fc.constantFrom('@@ -1,2 +3,4 @@', '@@ -1 +1 @@', '+', '-', ' ', '\\', '\n', 'x', '@@');
    fc.assert(
      fc.property(
        fc.array(piece).map((pieces) => pieces.join('')),
        (patch) => {
          expect(parsePatch(patch).added).toBeInstanceOf(Map);
        },
      ),
    );
  });
});

describe('changedLines', () => {
  test('counts every line when the patch was cut', () => {
    expect(changedLines('@@ -1,2 +1,3 @@\n a\n+b', 'a\nb\nc')).toBe('all');
  });

  test('counts every line when the patch belongs to another version of the file', () => {
    expect(changedLines('@@ -1 +1 @@\n-a\n+b', 'not b')).toBe('all');
  });

  test('recognises a line whose byte order mark is in the patch only', () => {
    expect(changedLines('@@ -0,0 +1 @@\n+\uFEFFa', 'a')).toEqual(new Set([1]));
  });
});

describe('firstChanged', () => {
  test('is the first changed line of the range, however long the range', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 1, max: 60 })),
        fc.nat(60),
        fc.nat(60),
        (lines, a, length) => {
          const [from, to] = [a + 1, a + 1 + length];
          const inside = lines.filter((line) => line >= from && line <= to).sort((x, y) => x - y);
          expect(firstChanged(new Set(lines), from, to)).toBe(inside[0]);
        },
      ),
    );
  });

  test('is the start of the range when every line counts', () => {
    expect(firstChanged('all', 7, 9)).toBe(7);
  });
});

/** A patch without context lines, cut into hunks at the given places. */
function patchOf(lines: readonly { kind: string; text: string }[], cuts: readonly number[]): string {
  const bounds = [...new Set([0, ...cuts.filter((cut) => cut < lines.length), lines.length])].sort(
    (a, b) => a - b,
  );
  let [old, head] = [1, 1];
  const hunks: string[] = [];
  for (const [index, start] of bounds.slice(0, -1).entries()) {
    const part = lines.slice(start, bounds[index + 1]);
    const olds = part.filter(({ kind }) => kind !== 'add').length;
    const heads = part.filter(({ kind }) => kind !== 'drop').length;
    const count = (n: number) => (n === 1 ? '' : `,${n}`);
    const sign = { keep: ' ', add: '+', drop: '-' } as Record<string, string>;
    hunks.push(`@@ -${old}${count(olds)} +${head}${count(heads)} @@`);
    hunks.push(...part.map(({ kind, text }) => `${sign[kind]}${text}`));
    old += olds;
    head += heads;
  }
  return hunks.join('\n');
}
