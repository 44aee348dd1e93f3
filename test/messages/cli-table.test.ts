import { describe, expect, it } from 'vitest';
import { table } from '../../src/messages/cli/table.ts';
import { PLAIN, paint, paintMarks } from '../../src/messages/text/screen.ts';

const wide = (text: string) => Math.max(...text.split('\n').map((line) => line.length));
const on = (columns: number) => ({ screen: { ...PLAIN, columns } });
const COLOURED = { columns: undefined, colours: true };

describe('a table on a screen', () => {
  it('clips its widest column first, and not one that stays whole', () => {
    const shown = table(
      [{ heading: 'STATUS', whole: true }, 'REASON'],
      [['waiting_approval', 'because '.repeat(7)]],
      on(70),
    );
    expect(shown.split('\n')[1]).toBe(`waiting_approval  ${'because '.repeat(7).slice(0, 51)}…`);
  });

  it('keeps ids whole, and the end of a cell that differs there', () => {
    const id = 'run_01k2x7m9q0zzzzzzzzzzzzzzz';
    const shown = table(
      ['RUN', { heading: 'PULL REQUEST', keeps: 'end' }],
      [[id, `${'acme/'.padEnd(50, 'x')}#17`]],
      on(70),
    );
    expect(shown).toContain(`${id}  …x`);
    expect(shown).toMatch(/x#17$/);
    expect(wide(shown)).toBe(70);
  });

  it('leaves columns out, the highest number first, if clipping is not enough', () => {
    const columns = ['A', 'B', 'C', 'D'].map((heading, at) => ({
      heading,
      whole: true as const,
      leftOut: at,
    }));
    const rows = [columns.map(({ heading }) => heading.repeat(30))];
    expect(table(columns, rows, on(70)).split('\n')[0]?.split(/ +/)).toEqual(['A', 'B']);
    expect(table(columns, rows, on(100)).split('\n')[0]?.split(/ +/)).toEqual(['A', 'B', 'C']);
  });

  it('uses the columns that a wider screen has', () => {
    const rows = [['x'.repeat(60), 'y'.repeat(60)]];
    expect(wide(table(['A', 'B'], rows, on(90)))).toBe(90);
    expect(wide(table(['A', 'B'], rows, on(300)))).toBe(122);
  });

  it('counts as 70 columns wide if it is narrower', () => {
    expect(wide(table(['A', 'B'], [['x'.repeat(60), 'y'.repeat(60)]], on(20)))).toBe(70);
  });

  it('shows no half of a secret', () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`;
    for (const text of [`${'x '.repeat(20)}${secret}`, `${'x '.repeat(29)}${secret}`])
      expect(table(['A', 'B'], [['y'.repeat(50), text]], on(70))).not.toContain('ghp_');
  });
});

describe('colours', () => {
  it('are absent where the screen has none', () => {
    expect(paint('good', 'done', PLAIN)).toBe('done');
    expect(paintMarks('✔ done', PLAIN)).toBe('✔ done');
  });

  it('are beside the padding, so that columns stay aligned', () => {
    const shown = table(['A', { heading: 'B', meaning: () => 'bad' }, 'C'], [['1', 'x', '2']], {
      screen: COLOURED,
    });
    expect(shown).toBe(
      '\u001B[1mA\u001B[22m  \u001B[1mB\u001B[22m  \u001B[1mC\u001B[22m\n1  \u001B[31mx\u001B[39m  2',
    );
  });

  it('are on the marks that lines begin with, and on no other text', () => {
    expect(paintMarks('✔ a ✔\n  ✘ b\nok c\nokay d\n… e', COLOURED)).toBe(
      '\u001B[32m✔\u001B[39m a ✔\n  \u001B[31m✘\u001B[39m b\n\u001B[32mok\u001B[39m c\nokay d\n\u001B[33m…\u001B[39m e',
    );
  });

  it('of a table leave hostile text without escape sequences of its own', () => {
    const shown = table(['A'], [['\u001B[2J\u009B31m']], { screen: COLOURED });
    expect(shown.split('\n')[1]).toBe('\uFFFD[2J\uFFFD31m');
  });
});
