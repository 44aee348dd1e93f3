import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressOf } from '../../../src/domain/skill/index-address.ts';
import { compareVersions } from '../../../src/skills/catalogue/sync/admit.ts';
import { readIndex } from '../../../src/skills/catalogue/sync/skill-index.ts';

describe('versions', () => {
  it('are ordered as in Semantic Versioning', () => {
    const inOrder =
      '0.0.9 0.1.0 0.10.0 1.0.0-1 1.0.0-2 1.0.0-10 1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-rc.1 1.0.0 1.0.1 10.0.0'.split(
        ' ',
      );
    fc.assert(
      fc.property(fc.shuffledSubarray(inOrder), (some) => {
        expect(some.toSorted(compareVersions)).toEqual(inOrder.filter((one) => some.includes(one)));
      }),
    );
  });
});

describe('an address in an index', () => {
  const far = new URL('https://skills.example.com/all/index.json');
  const here = new URL('http://127.0.0.1:9/index.json');

  it.each([
    ['a.json', far, 'https://skills.example.com/all/a.json'],
    ['../b.json', far, 'https://skills.example.com/b.json'],
    ['https://other.example.com/a.json', far, 'https://other.example.com/a.json'],
    ['a.json', here, 'http://127.0.0.1:9/a.json'],
    ['http://localhost/a.json', here, 'http://localhost/a.json'],
  ])('may be %s in %s', (text, index, url) => {
    expect(addressOf(text, index)).toEqual(new URL(url));
  });

  it.each([
    ['http://example.com/a.json', far],
    ['http://127.0.0.1/a.json', far],
    ['https://localhost/a.json', far],
    ['https://[::1]/a.json', far],
    ['https://2130706433/a.json', far],
    ['https://0x7f.1/a.json', far],
    ['//127.0.0.1/a.json', far],
    ['http://10.0.0.1/a.json', here],
    ['file:///etc/passwd', here],
    ['data:application/json,{}', far],
    ['https://me:secret@example.com/a.json', far],
    ['a.json?token=1', far],
    ['https://', far],
  ])('cannot be %s in %s', (text, index) => {
    expect(addressOf(text, index)).toHaveProperty('because');
  });
});

it('reading an index never throws, and names no package twice, whatever it contains', () => {
  const at = new URL('https://skills.example.com/index.json');
  const entry = fc.record({
    name: fc.constantFrom('a', 'b', '__proto__', 'constructor', 'Ä', ''),
    version: fc.constantFrom('1.0.0', 'one'),
    url: fc.constantFrom('a.json', 'http://x', ''),
    sha256: fc.constantFrom('0'.repeat(64), 'x'),
    size: fc.constantFrom(1, 0, 1e9),
  });
  const index = fc.record({
    format: fc.constant('countersign-index/1'),
    skills: fc.array(fc.oneof(entry, fc.jsonValue())),
  });
  fc.assert(
    fc.property(
      fc.oneof(
        index.map((value) => JSON.stringify(value)),
        fc.json(),
        fc.string(),
      ),
      (text) => {
        const read = readIndex(text, at);
        if ('because' in read) return;
        const names = read.entries.map(({ name }) => name);
        expect(new Set(names).size).toBe(names.length);
        expect(names.every((name) => ['a', 'b', 'constructor'].includes(name))).toBe(true);
      },
    ),
  );
});
