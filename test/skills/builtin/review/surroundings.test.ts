import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ChangedFile } from '../../../../src/analyzers/changed-file.ts';
import { piecesOf } from '../../../../src/skills/builtin/review/model/piece.ts';
import {
  definitionsIn,
  shownSurroundings,
  surroundingsOf,
  usesIn,
} from '../../../../src/skills/builtin/review/model/surroundings.ts';
import { admitted, changed } from './support.ts';

/** What a model reads around the first piece of the first file. */
function around(...files: ChangedFile[]): string {
  const all = admitted(...files);
  const [file] = all;
  const piece = file && piecesOf(file, '')[0];
  if (!file || !piece) throw new Error('the first file has no piece');
  return shownSurroundings(
    surroundingsOf(piece, file, { definitions: definitionsIn(all), uses: usesIn(all) }),
    piece,
    (path) => all.find((one) => one.path === path)?.lines,
  );
}

const filler = (count: number, indent = '') =>
  Array.from({ length: count }, (_, n) => `${indent}step(${n});\n`).join('');

/** A function with a change far from its first line. */
function inFunction(head: string, tail: string, { indent = '  ', count = 12 } = {}): ChangedFile {
  const of = (line: string) =>
    `before();\n\n${head}\n${filler(count, indent)}${indent}${line}\n${filler(count, indent)}${tail}\nafter();\n`;
  return changed('src/a.ts', of('old();'), of('fresh();'));
}

describe('around a hunk, a model reads', () => {
  test.each([
    ['the function in TypeScript', 'export function greet(name: string) {', '}'],
    ['the function in Python', 'def greet(name):', ''],
    ['the function in Go', 'func (s *Store) Greet(name string) error {', '}'],
    ['the block in YAML', 'jobs:', ''],
  ])('%s that encloses it', (_, head, tail) => {
    const text = around(inFunction(head, tail));
    expect(text).toMatch(/^Around it:/);
    expect(text).toContain(`    3   ${head}\n`);
    expect(text).toContain('    4     step(0);\n');
    expect(text).not.toContain('before();');
    expect(text).not.toContain('after();');
    expect(text).not.toContain('fresh();');
  });

  test('only the first line of a function that is too long', () => {
    const text = around(inFunction('export function greet() {', '}', { count: 60 }));
    expect(text).toBe('Around it:\n    3   export function greet() {');
  });

  test('the first lines of a long class, and the whole of its short method', () => {
    const body = (line: string) =>
      `class Store {\n${filler(100, '  ')}  greet(name) {\n${filler(8, '    ')}    ${line}\n${filler(8, '    ')}  }\n}\n`;
    const text = around(changed('src/a.ts', body('old();'), body('fresh();')));
    expect(text).toContain('    1   class Store {\n    …\n  102     greet(name) {\n');
    expect(text).not.toContain('step(99);');
  });

  test('the definition of what it calls, in another file of the change too', () => {
    const names = changed(
      'src/names.ts',
      'x();\n',
      'x();\n\nexport function nameOf(person) {\n  return person.name;\n}\n',
    );
    const text = around(changed('src/a.ts', 'one();\n', 'one();\nprint(nameOf(mia));\n'), names);
    expect(text).toBe(
      'In src/names.ts:\n    3   export function nameOf(person) {\n    4     return person.name;\n    5   }',
    );
  });

  test('the lines that use what it defines', () => {
    const user = changed('src/user.ts', 'x();\n', 'x();\nprint(nameOf(mia));\n');
    const text = around(
      changed('src/a.ts', 'one();\n', 'one();\nexport const nameOf = (person) => person.name;\n'),
      user,
    );
    expect(text).toBe('In src/user.ts:\n    2   print(nameOf(mia));');
  });

  test('nothing if there is nothing around it', () => {
    expect(around(changed('src/a.ts', '', 'one();\n'))).toBe('');
  });
});

test('what surrounds a hunk has a limit, and none of its lines is also one of the hunk, whatever the file holds', () => {
  const line = fc.oneof(
    fc.constantFrom(
      '',
      '}',
      '  }',
      'function a() {',
      '  b() {',
      '    a(); b();',
      '\tdef c():',
      '  const d = a(b());',
    ),
    fc.string({ maxLength: 400 }).map((text) => text.replaceAll(/[\r\n]/g, ' ')),
  );
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 150 }), fc.nat(), (lines, at) => {
      const index = at % lines.length;
      const text = (changedLine: string) => `${lines.with(index, changedLine).join('\n')}\n`;
      const all = admitted(changed('src/a.ts', text('old'), text('  a(); b(); fresh();')));
      const [file] = all;
      for (const piece of file ? piecesOf(file, '') : []) {
        const own = new Set(piece.lines.map((one) => one.line));
        const shown = file
          ? (surroundingsOf(piece, file, { definitions: definitionsIn(all), uses: usesIn(all) }).lines.get(
              'src/a.ts',
            ) ?? [])
          : [];
        expect(shown.filter((number) => own.has(number))).toEqual([]);
        expect(
          shown.reduce((sum, number) => sum + (file?.lines[number - 1] ?? '').length + 1, 0),
        ).toBeLessThanOrEqual(3_000);
        expect(shown).toEqual(shown.toSorted((a, b) => a - b));
      }
    }),
  );
});
