import { describe, expect, it } from 'vitest';
import { asksApp } from '../../../src/entrypoints/commands/asks-app.ts';

/** A conversation, as `login: text`; the first comment is the app's, and the last one is the reply. */
function isAsked(...said: string[]): boolean {
  const comments = [`acme-reviews[bot]: A finding.`, ...said].map((line, index) => {
    const [, login = '', body = ''] = /^(\S+): (.*)$/s.exec(line) ?? [];
    return { id: index + 1, login, body };
  });
  const thread = { path: 'a.ts', line: 1, hunk: '', commitSha: 'a'.repeat(40), comments };
  return asksApp(thread, comments.length);
}

describe('a reply is meant for the app if it', () => {
  it.each([
    ['ends with a question', 'Is that so?'],
    ['holds a question', 'Is that so? I doubt it.'],
    ['asks in brackets', 'I doubt it (or is it?).'],
    ['asks in bold', '**Why?**'],
    ['asks in another line', '> old?\n\nWhy?\n'],
    ['mentions the app', '@Acme-Reviews please explain'],
    ['mentions its account', '@acme-reviews[bot] please explain'],
    ['has the command', 'Hm.\n/countersign ask about the index'],
  ])('%s', (_, text) => {
    expect(isAsked(`mia: ${text}`)).toBe(true);
  });

  it('asks again after an answer, whoever wrote before that', () => {
    expect(isAsked('max: I see.', 'mia: @acme-reviews why', 'acme-reviews[bot]: So.', 'mia: Really?')).toBe(
      true,
    );
  });
});

describe('a reply is left to people if it', () => {
  it.each([
    ['states something', 'I see.'],
    ['asks in a quotation only', '> Is that so?\n\nIt is.'],
    ['asks in code only', 'Use `a?.b ?` or\n```\nwhy?\n```\n'],
    ['asks in code that does not end', '```\nwhy?'],
    ['has a question mark in an address', 'See https://a.example/x? and https://a.example/?q=1'],
    ['has a conditional expression', 'It is a ? b : c'],
    ['mentions an account whose name begins like that of the app', '@acme-reviews-fan look'],
    ['has a package of that name', 'npm i x@acme-reviews and a/@acme-reviews/b'],
    ['quotes the command', '> /countersign ask why'],
    ['has another command', '/countersign asked'],
  ])('%s', (_, text) => {
    expect(isAsked(`mia: ${text}`)).toBe(false);
  });

  it('asks while somebody else takes part in the conversation', () => {
    expect(isAsked('max: I moved it.', 'mia: Where to?')).toBe(false);
  });
});

it('a long reply of the marks that are looked for is read in no time', () => {
  for (const mark of ['`', '```', '> ', '?', '@a', 'https://', '~~~`'])
    expect(isAsked(`mia: ${mark.repeat(65_000 / mark.length)}`)).toBeTypeOf('boolean');
});
