import { expect, it } from 'vitest';
import { statusLine } from '../../../src/entrypoints/cli/status-line.ts';

const ERASE = '\r\u001B[K';

function written(columns = 20) {
  const texts: string[] = [];
  return {
    texts,
    line: statusLine(
      (text) => void texts.push(text),
      () => columns,
    ),
  };
}

it('a status line replaces its text, and writes nothing if the text is the same', () => {
  const { texts, line } = written();
  for (const text of ['one', 'one', 'two']) line.show(text);
  expect(texts).toEqual([`${ERASE}one`, `${ERASE}two`]);
});

it('a status line is shorter than the terminal is wide, because a wrapped line could not be removed', () => {
  const { texts, line } = written(6);
  line.show('one two');
  expect(texts).toEqual([`${ERASE}one …`]);
});

it('a status line goes before other text, once, and comes back with the next', () => {
  const { texts, line } = written();
  line.hide();
  line.show('one');
  line.hide();
  line.hide();
  line.show('one');
  expect(texts).toEqual([`${ERASE}one`, ERASE, `${ERASE}one`]);
});
