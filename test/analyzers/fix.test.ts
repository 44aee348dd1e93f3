import { expect, test } from 'vitest';
import { type Edit, fixOf } from '../../src/analyzers/fix.ts';

const LINES = ['import os', 'import sys', 'x = None', ''];
const edit = (line: number, column: number, endLine: number, endColumn: number, text = ''): Edit => ({
  line,
  column,
  endLine,
  endColumn,
  text,
});

test.each<[string, Edit[], { line: number; endLine: number }, string | undefined]>([
  ['a part of a line', [edit(3, 5, 3, 9, '0')], { line: 3, endLine: 3 }, 'x = 0'],
  ['a whole line', [edit(1, 1, 2, 1)], { line: 1, endLine: 1 }, ''],
  ['one of two lines', [edit(1, 1, 2, 1)], { line: 1, endLine: 2 }, 'import sys'],
  ['two places', [edit(3, 5, 3, 9, '0'), edit(3, 1, 3, 2, 'y')], { line: 3, endLine: 3 }, 'y = 0'],
  ['one line by two', [edit(2, 1, 2, 11, 'a\nb')], { line: 2, endLine: 2 }, 'a\nb'],
  ['another line', [edit(1, 1, 2, 1)], { line: 2, endLine: 2 }, undefined],
  ['more than its lines', [edit(1, 1, 3, 1)], { line: 1, endLine: 1 }, undefined],
  ['a line feed between lines', [edit(1, 10, 2, 1, ' ')], { line: 1, endLine: 1 }, undefined],
  ['a column that is not there', [edit(3, 5, 3, 40, '0')], { line: 3, endLine: 3 }, undefined],
  ['overlapping places', [edit(3, 1, 3, 5), edit(3, 3, 3, 9)], { line: 3, endLine: 3 }, undefined],
  ['nothing', [edit(3, 5, 3, 9, 'None')], { line: 3, endLine: 3 }, undefined],
  ['an empty line instead', [edit(3, 1, 3, 9)], { line: 3, endLine: 3 }, undefined],
  ['no place', [], { line: 3, endLine: 3 }, undefined],
  ['too much', [edit(3, 5, 3, 9, 'x'.repeat(2_001))], { line: 3, endLine: 3 }, undefined],
])('a fix of %s is as it would replace the lines', (_, edits, at, fix) => {
  expect(fixOf(edits, LINES, at)).toBe(fix);
});

test('lines whose columns tools count in different ways have no fix', () => {
  expect(fixOf([edit(1, 1, 1, 2, 'y')], ['x = "🚀"'], { line: 1, endLine: 1 })).toBeUndefined();
  expect(fixOf([edit(1, 1, 1, 2, 'y')], ['x = 1\r'], { line: 1, endLine: 1 })).toBeUndefined();
});
