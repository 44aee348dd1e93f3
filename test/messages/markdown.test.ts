import fc from 'fast-check';
import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { describe, expect, it } from 'vitest';
import {
  clipBytes,
  code,
  codeBlock,
  htmlComment,
  inline,
  prose,
  tableCell,
  tableCode,
  tableProse,
} from '../../src/messages/text/markdown.ts';

/** Text with far more markup in it than random text would have. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...[
          '`',
          '``',
          '*',
          '**',
          '_',
          '~~~',
          '[',
          ']',
          '](',
          ')',
          '![',
          '<',
          '>',
          '<!--',
          '-->',
          '--',
          '&amp;',
        ],
        ...['@', 'octocat', '#', '12', 'GH-7', 'https://', 'www.', 'a.b', '|', '\\', '\n', '\r\n', '\t', ' '],
        ...[
          '- ',
          '1. ',
          '1)',
          '===',
          '# ',
          '+',
          '/',
          ':tada:',
          '$',
          '\u202e',
          '\u200b',
          '\u0000',
          '\ud800',
          '🎉',
        ],
        ...['<b>', '</details>', '[a]: b', '~', '=', '…'],
      ),
      fc.string({ unit: 'binary', maxLength: 4 }),
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''));

const only = <N extends Nodes>(nodes: N[]): N | undefined => (nodes.length === 1 ? nodes[0] : undefined);

/** What a reader sees of Markdown that is plain text; `undefined` if it is anything else. */
function plain(markdown: string): string | undefined {
  const tree = fromMarkdown(markdown);
  if (tree.children.length === 0) return '';
  const paragraph = only(tree.children);
  if (paragraph?.type !== 'paragraph') return undefined;
  const text = only(paragraph.children);
  return text?.type === 'text' ? text.value : undefined;
}

const withoutGaps = (text: string | undefined) => text?.replaceAll('\u200b', '');

describe('text inside a sentence', () => {
  it.each([
    ['emphasis', '*bold* and snake_case', '\\*bold\\* and snake\\_case'],
    ['a link', '[here](https://evil.example)', '\\[here\\](https:&#8203;//evil.example)'],
    ['an image', '![x](y)', '!\\[x\\](y)'],
    ['HTML', '<img src=x>', '&lt;img src=x&gt;'],
    ['an entity', '&lt;', '&amp;lt;'],
    ['an entity that stands for a mention', '&#64;octocat', '&amp;#&#8203;64;octocat'],
    ['a mention', 'ask @octocat', 'ask @&#8203;octocat'],
    ['a mention of a team', '@acme/owners', '@&#8203;acme/owners'],
    ['a mention with an invisible character in it', '@\u200boctocat', '@⟨U+200B⟩octocat'],
    ['a reference', 'fixes acme/shop#12', 'fixes acme/shop#&#8203;12'],
    ['a reference in the other form', 'see GH-12', 'see GH-&#8203;12'],
    ['an address without a scheme', 'www.evil.example', 'www&#8203;.evil.example'],
    ['an e-mail address', 'a@b.example', 'a@&#8203;b.example'],
    ['an emoji name', ':tada:', '\\:&#8203;tada:'],
    ['a formula', '$x$', '&#36;x&#36;'],
    ['several lines', 'one\r\ntwo\n\nthree', 'one two three'],
    ['a change of direction, as text', 'a\u202eb', 'a⟨U+202E⟩b'],
    ['an escape sequence, as text', '\u001b[31mred', '⟨U+001B⟩\\[31mred'],
    ['an emoji of several code points', '👩‍💻', '👩‍💻'],
    ['a command to another bot', '/lgtm', '\\/lgtm'],
    ['a numbered list', '1. one', '1\\. one'],
    ['a heading', '# one', '\\# one'],
    ['ordinary words', 'Fix the cart (again), please!', 'Fix the cart (again), please!'],
    ['emoji', 'done ❤️', 'done ❤️'],
  ])('encodes %s', (_, text, encoded) => {
    expect(inline(text, 100)).toBe(encoded);
  });

  it('is cut after a number of characters, never inside one', () => {
    expect(inline('🎉🎉🎉🎉', 3)).toBe('🎉🎉…');
  });

  it('stays exactly the text for any string', { tags: 'slow' }, () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const encoded = inline(text, 1_000);
        expect(encoded).not.toMatch(/[\r\n]/);
        const seen = plain(encoded);
        expect(seen).toBeDefined();
        // Encoding what a reader sees gives the same result, so nothing visible was lost or added.
        expect(inline(withoutGaps(seen) ?? '', 1_000)).toBe(encoded);
      }),
      { numRuns: 1_000 },
    );
  });

  it('stays text after a list mark, in a quote and between words', { tags: 'slow' }, () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const encoded = inline(text, 1_000);
        const alone = plain(encoded) ?? 'markup';
        expect(plain(`so ${encoded}.`)).toBe(`so ${alone}.`);
        const quote = only(fromMarkdown(`> ${encoded} x`).children);
        expect(quote?.type).toBe('blockquote');
        const list = only(fromMarkdown(`- ${encoded} x`).children);
        const item = list?.type === 'list' ? only(list.children) : undefined;
        expect(item?.type === 'listItem' && item.children.map((node) => node.type)).toEqual(['paragraph']);
      }),
      { numRuns: 500 },
    );
  });

  it('never shows what GitHub would turn into a mention, a reference or a link', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const seen = plain(inline(text, 1_000)) ?? '';
        expect(seen).not.toMatch(/@[\w-]|#\d|\bgh-\d|:\/\/|\bwww\.|\bmailto:|:[\w+-]+:/i);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('a cell of a table', () => {
  it('cannot end early', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(tableCell(text)).not.toMatch(/[|\r\n]/);
      }),
    );
  });

  it('escapes the bar within code', () => {
    expect(tableCode('a|b')).toBe('`a\\|b`');
  });
});

describe('inline code', () => {
  it.each([
    ['a plain name', 'src/a.ts', '`src/a.ts`'],
    ['backticks inside', 'a`b``c', '```a`b``c```'],
    ['a backtick at the edge', '`a', '`` `a ``'],
    ['several lines', 'a\nb', '`a b`'],
    ['a change of direction, as text', 'a\u202eb', '`a⟨U+202E⟩b`'],
    ['nothing', '', '` `'],
  ])('encodes %s', (_, text, encoded) => {
    expect(code(text)).toBe(encoded);
  });

  it('is one code node for any string', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const paragraph = only(fromMarkdown(`x ${code(text)} y`).children);
        expect(paragraph?.type === 'paragraph' && paragraph.children.map((node) => node.type)).toEqual([
          'text',
          'inlineCode',
          'text',
        ]);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('prose with code in it', () => {
  it.each([
    ['code as code', 'Pass it through `env:` instead', 'Pass it through `env:` instead'],
    ['a lone backtick as a character', 'a ` b', 'a \\` b'],
    ['two adjacent pieces separately', '`a``b`', '`a` `b`'],
    ['the text around it', '*x* `a` @octocat', '\\*x\\* `a` @&#8203;octocat'],
  ])('shows %s', (_, text, encoded) => {
    expect(prose(text)).toBe(encoded);
  });

  it('contains only text and code for any string', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const paragraph = only(fromMarkdown(`x ${prose(text)} y`).children);
        const kinds =
          paragraph?.type === 'paragraph' ? paragraph.children.map((node) => node.type) : ['none'];
        expect(kinds.filter((kind) => kind !== 'text' && kind !== 'inlineCode')).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('cannot end the cell of a table', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(tableProse(text)).not.toMatch(/(?<!\\)\||[\r\n]/);
      }),
    );
  });
});

describe('a block of code', () => {
  it('has a fence longer than any inside', () => {
    expect(codeBlock('````\nx\n````', 'ts')).toBe('`````ts\n````\nx\n````\n`````');
  });

  it('omits a language that is not a plain word', () => {
    expect(codeBlock('x', 'ts\n# hello')).toBe('```\nx\n```');
  });

  it('is one code node that holds the text, for any string', () => {
    fc.assert(
      fc.property(hostile, fc.string(), (text, lang) => {
        const node = only(fromMarkdown(codeBlock(text, lang)).children);
        expect(node?.type).toBe('code');
        const lines = text.replaceAll(/\r\n?|[\u2028\u2029]/g, '\n').split('\n');
        const shown = node?.type === 'code' ? node.value.split('\n') : [];
        expect(shown.length).toBeGreaterThanOrEqual(lines.length - 1);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('an HTML comment', () => {
  it('separates hyphens that would end it', () => {
    expect(htmlComment('a --> b')).toBe('<!-- a - -> b -->');
  });

  it('is one HTML node that ends at the right place, for any string', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const comment = htmlComment(text);
        expect(comment.slice(4, -3)).not.toMatch(/--|[\r\n]/);
        expect(fromMarkdown(`${comment}\n\nafter`).children.map((node) => node.type)).toEqual([
          'html',
          'paragraph',
        ]);
      }),
    );
  });
});

describe('clipping to bytes', () => {
  it.each([
    ['text that fits', 'abc', 3, 'abc'],
    ['text that does not', 'abcdef', 5, 'ab…'],
    ['a character of several bytes that does not fit whole', 'aé🎉é', 7, 'aé…'],
    ['nothing if there is no room for the mark of a cut', 'abc', 2, ''],
  ])('keeps %s', (_, text, max, kept) => {
    expect(clipBytes(text, max)).toBe(kept);
  });

  it('never exceeds the limit and never breaks a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(60), (text, max) => {
        const kept = clipBytes(text, max);
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(max);
        expect(kept.isWellFormed()).toBe(true);
        expect(text.toWellFormed().startsWith(kept.replace(/…$/, ''))).toBe(true);
      }),
    );
  });
});
