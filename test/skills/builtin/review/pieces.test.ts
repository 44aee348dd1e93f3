import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { masker } from '../../../../src/analyzers/mask.ts';
import { anchorOf } from '../../../../src/skills/builtin/review/model/anchor.ts';
import { type Size, shareOut, tokensOf } from '../../../../src/skills/builtin/review/model/budget.ts';
import { piecesOf, shownPiece } from '../../../../src/skills/builtin/review/model/piece.ts';
import { seed } from '../../../domain/rule/seed.ts';
import { addedLines, admitted, changed, noMask } from './support.ts';

const pieces = (before: string, after: string, path = 'src/a.ts', lens = 'lens') =>
  admitted(changed(path, before, after)).flatMap((file) => piecesOf(file, lens));
const prints = (...given: Parameters<typeof pieces>) => pieces(...given).map(({ print }) => print);

const lines = (count: number, word = 'line') =>
  Array.from({ length: count }, (_, n) => `${word} ${n}\n`).join('');

describe('a piece', () => {
  it('is a hunk, with its context lines and the line numbers of the head', () => {
    const [piece] = pieces('a\nb\nc\n', 'a\nB\nc\n');
    expect(piece?.lines).toEqual([
      { mark: ' ', text: 'a', line: 1 },
      { mark: '-', text: 'b', line: null },
      { mark: '+', text: 'B', line: 2 },
      { mark: ' ', text: 'c', line: 3 },
    ]);
  });

  it('is at most 400 lines', () => {
    expect(pieces('', lines(1_000)).map(({ lines }) => lines.length)).toEqual([400, 400, 200]);
  });

  it('is a part of the whole file if GitHub sends no diff', () => {
    const content = Buffer.from(lines(401));
    const [file] = admitted({ path: 'src/a.ts', status: 'modified', content, changes: 3 });
    const found = file ? piecesOf(file, 'lens') : [];
    expect(found.map(({ lines }) => lines.length)).toEqual([400, 1]);
    expect(found[1]?.lines).toEqual([{ mark: '+', text: 'line 400', line: 401 }]);
  });

  it.each([
    ['another path', prints('a\n', 'b\n', 'src/b.ts')],
    ['another model, prompt or guideline', prints('a\n', 'b\n', 'src/a.ts', 'other')],
    ['another removed line', prints('A\n', 'b\n')],
    ['another added line', prints('a\n', 'B\n')],
    ['other context lines', prints('a\nx\n', 'b\nx\n')],
  ])('has another fingerprint with %s', (_, other) => {
    expect(other).not.toEqual(prints('a\n', 'b\n'));
  });

  it('has another fingerprint in another function, with the same context lines', () => {
    const around = (name: string) => `function ${name}() {\n  1;\n  2;\n  3;\n  old;\n}\n`;
    const change = (name: string) => prints(around(name), around(name).replace('old', 'return true'));
    expect(change('isEven')).not.toEqual(change('isAdmin'));
  });

  it('does not count as its own copy', () => {
    const block = `${lines(10, ' x')}`;
    const twice = prints(`${block}${block}`, `${block.replace('x 5', 'y')}${block.replace('x 5', 'y')}`);
    expect(twice).toHaveLength(2);
    expect(new Set(twice).size).toBe(2);
  });
});

it(`a rebase that moves a change keeps its fingerprints (seed ${seed})`, () => {
  const text = fc.array(fc.constantFrom('  a', '  b', '  c', '', '}'), { minLength: 1, maxLength: 30 });
  const edits = fc.array(fc.record({ at: fc.nat(29), to: fc.constantFrom('  new', '  other', null) }), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(text, edits, fc.nat(50), (before, list, above) => {
      const after = before.flatMap((line, index) => {
        const edit = list.find(({ at }) => at === index);
        return edit === undefined ? [line] : edit.to === null ? [] : [edit.to];
      });
      // Far enough above to be outside of the context lines, which are part of what was read.
      const moved = [...Array.from({ length: above }, (_, n) => `  upstream ${n}`), '  .', '  .', '  .'];
      const still = ['  .', '  .', '  .'];
      const join = (top: string[], rest: string[]) => `${[...top, ...rest].join('\n')}\n`;
      const here = changed('src/a.ts', join(still, before), join(still, after));
      const there = changed('src/a.ts', join(moved, before), join(moved, after));
      const printsOf = (file: typeof here) =>
        admitted(file).flatMap((one) => piecesOf(one, 'lens').map(({ print }) => print));
      expect(printsOf(there)).toEqual(printsOf(here));
      expect(addedLines(there)).toEqual(addedLines(here).map((line) => line + above));
    }),
    { seed },
  );
});

describe('the text that a model sees', () => {
  it('has an anchor on each line that can be quoted, and on no other', () => {
    const [piece] = pieces('function f() {\n  a;\n}\n', 'function f() {\n  b;\n}\n');
    expect(piece && shownPiece(piece, noMask)).toMatchInlineSnapshot(`
      "@@
               function f() {
             -   a;
      2#f4fa +   b;
               }"
    `);
  });

  it('has invisible characters escaped', () => {
    const [piece] = pieces('', 'if (a\u202e) {}\n');
    expect(piece && shownPiece(piece, noMask)).toContain('if (a⟨U+202E⟩) {}');
  });

  it('has no carriage returns at the ends of lines, of which a file from Windows is full', () => {
    const [piece] = pieces('', 'one;\r\ntwo;\r\n');
    expect(piece && shownPiece(piece, noMask)).not.toContain('U+000D');
  });

  it('has no secret, and no line of one that spans several', () => {
    const [piece] = pieces('', 'const key = "s3cr3t-of-ours";\nbegin\nKEY\nend\n');
    const shown = (secret: string) => (piece ? shownPiece(piece, masker([secret])) : '');
    expect(shown('s3cr3t-of-ours')).toContain('1#');
    expect(shown('s3cr3t-of-ours')).not.toContain('s3cr3t-of-ours');
    expect(shown('begin\nKEY\nend')).not.toContain('KEY');
  });

  it('identifies a line by its number and its content', () => {
    expect(anchorOf(3, 'a')).not.toBe(anchorOf(3, 'b'));
    expect(anchorOf(3, 'a')).toMatch(/^3#[0-9a-f]{4}$/);
  });
});

describe('the budget', () => {
  it('estimates a token per three bytes', () => {
    expect(tokensOf('äöü')).toBe(2);
  });

  const size = <T extends { size: number }>(): Size<T> => ({
    atLeast: (part) => part.size - 1,
    exactly: (part) => part.size,
  });
  const groups = fc.array(fc.array(fc.integer({ min: 1, max: 15 }), { maxLength: 6 }), { maxLength: 12 });

  it(`loses nothing, and makes no prompt too large and none too many (seed ${seed})`, () => {
    fc.assert(
      fc.property(groups, fc.integer({ min: 0, max: 5 }), (sizes, most) => {
        const parts = sizes.map((group, g) => group.map((size, n) => ({ size, id: `${g}.${n}` })));
        const { questions, rest } = shareOut(parts, size(), { perQuestion: 10, questions: most });
        const ids = (list: { id: string }[]) => list.map(({ id }) => id).sort();
        expect(ids([...questions.flat(), ...rest])).toEqual(ids(parts.flat()));
        expect(questions.length).toBeLessThanOrEqual(most);
        for (const question of questions) {
          expect(question.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(10);
          expect(question).not.toEqual([]);
        }
      }),
      { seed },
    );
  });

  it(`keeps a file together if one prompt can hold it (seed ${seed})`, () => {
    fc.assert(
      fc.property(groups, (sizes) => {
        const parts = sizes.map((group, g) => group.map((size) => ({ size, g })));
        const { questions } = shareOut(parts, size(), { perQuestion: 10, questions: 1_000 });
        for (const [g, group] of sizes.entries()) {
          if (group.reduce((sum, size) => sum + size, 0) > 10) continue;
          expect(questions.filter((question) => question.some((part) => part.g === g)).length).toBeLessThan(
            2,
          );
        }
      }),
      { seed },
    );
  });

  it('does not render text that can no longer fit', () => {
    const made: string[] = [];
    const exactly = (part: string) => {
      made.push(part);
      return part.length;
    };
    const { rest } = shareOut(
      ['aaaa', 'bbbb', 'cccc'].map((part) => [part]),
      { atLeast: (part) => part.length, exactly },
      { perQuestion: 5, questions: 1 },
    );
    expect(rest).toEqual(['bbbb', 'cccc']);
    expect(new Set(made)).toEqual(new Set(['aaaa']));
  });
});
