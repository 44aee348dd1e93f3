import { expect, it } from 'vitest';
import { prettyLine } from '../../src/core/pretty-lines.ts';

const line = (fields: object) => JSON.stringify({ level: 30, time: '2026-03-02T09:00:07.123Z', ...fields });

it.each([
  ['the message with the time and the level', { msg: 'listens' }, '09:00:07 INFO  listens\n'],
  [
    'fields as key=value, quoted if they need it',
    { delivery: 7, url: 'http://x:3000/a', text: 'two words', none: null, list: [1, 'a'], msg: 'm' },
    '09:00:07 INFO  m delivery=7 url=http://x:3000/a text="two words" none=null list=[1,"a"]\n',
  ],
  ['an error given as text', { level: 40, err: 'no answer', msg: 'm' }, '09:00:07 WARN  m err="no answer"\n'],
  [
    'an error with its frames below, and what else it has',
    {
      level: 50,
      err: {
        type: 'TypeError',
        message: 'no',
        stack: 'TypeError: no\n    at a (b.ts:1:2)\n    at c',
        code: 'E1',
      },
      msg: 'm',
    },
    '09:00:07 ERROR m err=no error={"type":"TypeError","code":"E1"}\n    at a (b.ts:1:2)\n    at c\n',
  ],
])('a pretty line of the log shows %s', (_, fields, text) => {
  expect(prettyLine(line(fields), false)).toBe(text);
});

it('a pretty line of the log cannot be steered, reordered or continued by the texts in it', () => {
  const hostile = 'a\n\u001B[2J\u009B31m\u202E\u2028b';
  const text = prettyLine(
    line({
      msg: hostile,
      text: hostile,
      [hostile]: 1,
      err: { message: hostile, stack: `x\n    at ${hostile}` },
    }),
    false,
  );
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u);
  expect(text.split('\n')[0]).toContain('text=');
  expect(text.split('\n')).toHaveLength(3);
});

it('a pretty line of the log is coloured by its level if the terminal has colours', () => {
  expect(prettyLine(line({ level: 50, msg: 'm' }), true)).toBe('09:00:07 \u001B[31mERROR\u001B[39m m\n');
});
