import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../../src/domain/outcome/finding.ts';
import type { ModelMemory } from '../../../../src/domain/outcome/model-memory.ts';
import { afterRound, planRound } from '../../../../src/skills/builtin/review/model/memory.ts';
import { type Piece, piecesOf, printOfFile } from '../../../../src/skills/builtin/review/model/piece.ts';
import { seed } from '../../../domain/rule/seed.ts';
import { admitted, changed, modelFinding } from './support.ts';

const BASE = Array.from({ length: 30 }, (_, n) => `  line ${n};`);

/** The pieces of a head in which these lines of the base have another text. */
function head(edits: Readonly<Record<number, string>>, path = 'src/a.ts', above = 0): Piece[] {
  const top = Array.from({ length: above }, () => '  upstream;');
  const text = (lines: readonly string[]) => `${[...top, ...lines].join('\n')}\n`;
  const after = BASE.map((line, index) => edits[index] ?? line);
  return admitted(changed(path, text(BASE), text(after))).flatMap((file) => piecesOf(file, 'lens'));
}

const read = (pieces: readonly Piece[], more: Partial<ModelMemory> = {}): ModelMemory => ({
  read: pieces.map(({ print }) => print),
  said: [],
  ...more,
});
const present = new Set(['src/a.ts', 'src/b.ts']);
const printOf = (pieces: readonly Piece[], at: number) => pieces[at]?.print ?? '';
/** The line of the added text in a piece of `head`. */
const offsetIn = (piece: Piece | undefined) => piece?.lines.findIndex(({ mark }) => mark === '+') ?? -1;

describe('a later round', () => {
  const first = head({ 5: '  bad;', 20: '  worse;' });
  const open = [
    modelFinding(printOf(first, 0), offsetIn(first[0]), { description: 'Bad.' }),
    modelFinding(printOf(first, 1), offsetIn(first[1]), { description: 'Worse.' }),
  ];
  const earlier = read(first, { said: open });

  it('reads only pieces that changed', () => {
    const { ask, kept } = planRound(head({ 5: '  bad;', 20: '  better;' }), earlier);
    expect(ask.map(({ lines }) => lines.some(({ text }) => text === '  better;'))).toEqual([true]);
    expect(kept.map(({ print }) => print)).toEqual([printOf(first, 0)]);
  });

  it('reads a file again that it has read, before all others, and judges its findings again', () => {
    const other = head({ 3: '  other;' }, 'src/b.ts');
    const { ask, open: again, carried } = planRound([...other, ...first], earlier, 'src/a.ts');
    expect(ask).toEqual([...first, ...other]);
    expect([again, carried]).toEqual([open, []]);
  });

  it('judges a finding on a whole file again when that file is read again', () => {
    const whole = read(first, { said: [modelFinding(printOfFile(first), null)] });
    expect(planRound(first, whole, 'src/a.ts')).toMatchObject({ carried: [], open: whole.said });
    expect(planRound(first, whole, 'src/b.ts')).toMatchObject({ carried: whole.said, ask: [] });
  });

  it('reads nothing after a rebase, and reports open findings at their new lines', () => {
    const { ask, carried } = planRound(head({ 5: '  bad;', 20: '  worse;' }, 'src/a.ts', 7), earlier);
    expect(ask).toEqual([]);
    expect(carried.map(({ finding }) => finding.line)).toEqual([13, 28]);
  });

  it('keeps the findings of an unchanged piece, and drops those of a changed piece that are not repeated', () => {
    const second = head({ 5: '  bad;', 20: '  better;' });
    const plan = planRound(second, earlier);
    const memory = afterRound(plan, plan.ask, [], present);
    expect(memory.said.map(({ finding }) => finding.description)).toEqual(['Bad.']);
    expect(memory.read.toSorted()).toEqual(second.map(({ print }) => print).toSorted());
  });

  it('keeps the findings when the model did not answer, on the file and without a line', () => {
    const plan = planRound(head({ 5: '  fixed;', 20: '  better;' }), earlier);
    const memory = afterRound(plan, [], [], present);
    expect(memory.said.map(({ finding, offset }) => [finding.description, finding.line, offset])).toEqual([
      ['Bad.', undefined, null],
      ['Worse.', undefined, null],
    ]);
    expect(memory.read).toEqual([]);
  });

  it.each<[string, Partial<Finding>, string[]]>([
    ['with other wording', {}, ['Other words.']],
    ['with another word for the same cause', { category: 'style', rule: 'model/style' }, ['Other words.']],
    ['with a higher severity', { severity: 'critical' }, ['Other words.']],
    [
      'with a lower severity, which an equal line elsewhere may have',
      { severity: 'low' },
      ['Other words.', 'Bad.'],
    ],
    ['with another cause', { category: 'secret', rule: 'model/secret' }, ['Other words.', 'Bad.']],
  ])('reports a repeated finding once %s while another part of its file is unread', (_, more, expected) => {
    const evidence = 'bad;';
    const one = modelFinding(printOf(first, 0), offsetIn(first[0]), { description: 'Bad.', evidence });
    const second = head({ 5: '  bad;', 6: '  more;', 20: '  better;' });
    const plan = planRound(second, read(first, { said: [one] }));
    const again = modelFinding(printOf(second, 0), offsetIn(second[0]), {
      description: 'Other words.',
      evidence,
      ...more,
    });
    const memory = afterRound(plan, second.slice(0, 1), [again], present);
    expect(memory.said.map(({ finding }) => finding.description)).toEqual(expected);
  });

  it('keeps the findings of a file that can no longer be read', () => {
    const plan = planRound([], earlier);
    expect(afterRound(plan, [], [], present).said).toHaveLength(2);
  });

  it('drops the findings of a file that the pull request no longer changes', () => {
    const plan = planRound([], earlier);
    expect(afterRound(plan, [], [], new Set(['src/b.ts'])).said).toEqual([]);
  });

  it('reads the whole file again when a piece of it changed and a finding is about the file', () => {
    const whole = read(first, { said: [modelFinding(printOfFile(first), null)] });
    expect(planRound(first, whole)).toMatchObject({ ask: [], carried: whole.said });
    const second = head({ 5: '  bad;', 20: '  better;' });
    expect(planRound(second, whole)).toMatchObject({ ask: second, open: whole.said });
  });

  it('reads everything again that kept its findings without being read', () => {
    const failed = afterRound(planRound(head({ 5: '  x;' }), earlier), [], [], present);
    const third = head({ 5: '  y;' });
    const plan = planRound(third, failed);
    expect(plan.ask).toEqual(third);
    expect(afterRound(plan, plan.ask, [], present).said).toEqual([]);
  });

  it('reads everything again when there is too much to remember', () => {
    const many = Array.from({ length: 501 }, () => modelFinding(printOf(first, 0), 0));
    const memory = afterRound(planRound(first, undefined), first, many, present);
    expect(memory).toMatchObject({ read: [], said: many });
  });

  it('reads what is beyond the remembered pieces', () => {
    const pieces = Array.from({ length: 2_100 }, (_, n) => ({ ...first[0], print: `p${n}` }) as Piece);
    const memory = afterRound(planRound(pieces, undefined), pieces, [], present);
    expect(planRound(pieces, memory).ask).toHaveLength(100);
  });
});

const edits = fc.dictionary(fc.nat(29).map(String), fc.constantFrom('  x;', '  y;', '  z;'), {
  maxKeys: 6,
}) as fc.Arbitrary<Record<number, string>>;

describe('for any two heads', () => {
  it(`a piece is kept exactly if it was read, and read again otherwise (seed ${seed})`, () => {
    fc.assert(
      fc.property(edits, edits, fc.nat(9), (one, other, above) => {
        const [first, second] = [head(one), head(other, 'src/a.ts', above)];
        const { kept, ask } = planRound(second, read(first));
        const before = new Set(first.map(({ print }) => print));
        expect(kept).toEqual(second.filter(({ print }) => before.has(print)));
        expect([...kept, ...ask].toSorted(byPrint)).toEqual(second.toSorted(byPrint));
      }),
      { seed },
    );
  });

  it(`a finding either stays at the same text or is judged again (seed ${seed})`, () => {
    fc.assert(
      fc.property(edits, edits, fc.nat(9), (one, other, above) => {
        const [first, second] = [head(one), head(other, 'src/a.ts', above)];
        const all = first.flatMap(({ print, lines }) =>
          lines.flatMap(({ mark, text }, offset) =>
            mark === '+' ? [modelFinding(print, offset, { description: text })] : [],
          ),
        );
        const { carried, open, kept } = planRound(second, read(first, { said: all }));
        expect(carried.length + open.length).toBe(all.length);
        for (const { of, finding } of carried) {
          const piece = kept.find(({ print }) => print === of);
          expect(piece?.lines.find(({ line }) => line === finding.line)?.text).toBe(finding.description);
        }
        const keptPrints = new Set(kept.map(({ print }) => print));
        for (const { of } of open) expect(keptPrints.has(of)).toBe(false);
      }),
      { seed },
    );
  });

  it(`no finding is lost while any part of its file is unread (seed ${seed})`, () => {
    fc.assert(
      fc.property(edits, edits, fc.nat(5), (one, other, answered) => {
        const [first, second] = [head(one), head(other)];
        const all = first.map(({ print }, n) => modelFinding(print, 0, { description: `It is ${n}.` }));
        const plan = planRound(second, read(first, { said: all }));
        const readNow = plan.ask.slice(0, answered);
        const after = afterRound(plan, readNow, [], present);
        const isWhole = second.length > 0 && readNow.length === plan.ask.length;
        if (!isWhole) expect(after.said).toHaveLength(all.length);
        else expect(after.said).toHaveLength(plan.carried.length);
      }),
      { seed },
    );
  });
});

describe('for copies of one change', () => {
  const COPIES = 4;
  const block = Array.from({ length: 10 }, (_, n) => ` x ${n};`);
  const LINE = 5;
  const lineOf = (copy: number) => 10 * copy + LINE + 1;
  /** The pieces of a head that makes the same change to these of the blocks, which are all alike. */
  const copied = (copies: readonly number[]) => {
    const text = (isBad: (copy: number) => boolean) =>
      Array.from({ length: COPIES }, (_, copy) => (isBad(copy) ? block.with(LINE, ' danger();') : block))
        .map((lines) => `${lines.join('\n')}\n`)
        .join('');
    const file = changed(
      'src/a.ts',
      text(() => false),
      text((copy) => copies.includes(copy)),
    );
    return admitted(file).flatMap((one) => piecesOf(one, 'lens'));
  };
  const some = fc.subarray([0, 1, 2, 3]);

  it(`a finding on a line that is still added is kept or judged again (seed ${seed})`, () => {
    fc.assert(
      fc.property(some, some, fc.nat(3), (one, other, at) => {
        const copy = one[at % Math.max(1, one.length)];
        if (copy === undefined || !other.includes(copy)) return;
        const [first, second] = [copied(one), copied(other)];
        const holds = (piece: Piece) =>
          piece.lines.some(({ line, mark }) => mark === '+' && line === lineOf(copy));
        const piece = first.find(holds);
        const earlier = read(first, { said: [modelFinding(piece?.print ?? '', offsetIn(piece))] });
        const { carried, ask } = planRound(second, earlier);
        expect(carried.length === 1 || ask.some(holds)).toBe(true);
      }),
      { seed },
    );
  });
});

function byPrint(a: Piece, b: Piece): number {
  return a.print < b.print ? -1 : a.print > b.print ? 1 : 0;
}
