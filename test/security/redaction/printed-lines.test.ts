// @module-tag security

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { redact } from '../../../src/core/redact/redact.ts';
import { MOST_PRINTED, PrintedLines } from '../../../src/engine/sessions/printed-lines.ts';
import { LINES_CUT } from '../../../src/messages/run/running-log.ts';
import { PLANTED } from './planted.ts';
import { LONG, SEED } from './seed.ts';

/** What is shown after each part that a step prints. */
function shownAfter(...parts: (string | Uint8Array)[]): string[] {
  const lines = new PrintedLines();
  return parts.map((part) => {
    lines.add(part);
    return lines.take();
  });
}

const KEY = PLANTED.find(({ text }) => /^-----BEGIN [A-Z ]*PRIVATE KEY-----\n/.test(text));
const [begin = '', ...body] = KEY?.text.split('\n') ?? [];

test('a line is shown once it is whole, with a letter whose bytes came in two parts', () => {
  const [first, second] = [
    Buffer.from('gr\u00fc\u00dfe\nan').subarray(0, 3),
    Buffer.from('gr\u00fc\u00dfe\nan').subarray(3),
  ];
  expect(shownAfter(first, second, ' alle\n')).toEqual(['', 'gr\u00fc\u00dfe\n', 'an alle\n']);
});

test.each(PLANTED.filter(({ text }) => !text.includes('\n')))(
  '$kind at the beginning of a line is hidden, however the line came',
  ({ text, needle }) => {
    for (let cut = 1; cut < text.length; cut++) {
      const shown = shownAfter('before\n', text.slice(0, cut), `${text.slice(cut)} after\n`).join('');
      expect(shown).not.toContain(needle);
    }
  },
);

test('a secret that only what is before it reveals is hidden at the beginning of a piece', () => {
  const password = 'Tr0ub4dor3xK9w';
  expect(shownAfter('curl \\\n', `-u deploy:${password} https://shop.example\n`).join('')).not.toContain(
    password,
  );
});

test('nothing from the beginning of a private key is shown before its end', () => {
  const [first, ...more] = shownAfter(`before\n${begin}\n`, ...body.map((line) => `${line}\n`), 'after\n');
  expect(first).toBe('before\n');
  expect(more).toEqual([...body.slice(1).map(() => ''), '[redacted: private key]\n', 'after\n']);
});

test('what follows the beginning of a private key without an end is shown when it is longer than any key', () => {
  const line = 'this is not a key, but code about one\n';
  const shown = shownAfter(`before\n${begin}\n`, line.repeat(1_000), line).join('');
  expect(shown).toBe(`before\n${begin}\n${line.repeat(1_001)}`);
});

test('a key that is longer than any real one is hidden to its last line', { tags: 'slow' }, () => {
  const line = `${'MIIEpAIBAAKCAQEA'.repeat(4)}\n`;
  const parts = Array.from({ length: 1_500 }, () => line);
  const shown = shownAfter(`${begin}\n`, ...parts, 'after all\n').join('');
  expect(shown).not.toContain('MIIEpAIB');
  expect(shown).toContain('after all\n');
});

test('after 256 KB, the lines end with a sentence that says so', () => {
  const line = `${'x'.repeat(99)}\n`;
  const parts = Array.from({ length: 3_000 }, () => line);
  const shown = shownAfter(...parts).join('');
  expect(shown).toBe(`${line.repeat(MOST_PRINTED / 100)}${LINES_CUT}\n`);
});

test('a secret that the bound cuts is not shown', () => {
  const secret = PLANTED[0];
  const filling = `${'x'.repeat(MOST_PRINTED - 30)}\n`;
  const shown = shownAfter(filling, `${secret?.text}\n`, 'more\n').join('');
  expect(shown).toBe(`${filling}${LINES_CUT}\n`);
});

test('together, the pieces of any text are the beginning of its redacted whole', () => {
  const text = fc
    .array(
      fc.oneof(
        fc.constantFrom(...PLANTED.map(({ text }) => text), begin, ...body),
        fc.constantFrom('\n', '\n', ' ', 'words of a log', '\\n', '" +'),
        fc.string({ maxLength: 12, unit: 'grapheme' }),
      ),
      { maxLength: 30 },
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.array(fc.nat(40), { minLength: 1 }), (all, sizes) => {
      const bytes = Buffer.from(all);
      const parts: Buffer[] = [];
      for (let at = 0, index = 0; at < bytes.length; index++) {
        const size = 1 + (sizes[index % sizes.length] ?? 0);
        parts.push(bytes.subarray(at, at + size));
        at += size;
      }
      const shown = shownAfter(...parts).join('');
      expect(redact(bytes.toString()).slice(0, shown.length)).toBe(shown);
    }),
    { seed: SEED, numRuns: LONG ? 20_000 : 300 },
  );
});
