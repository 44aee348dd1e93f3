import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reason } from '../../src/domain/explanation/reason.ts';
import {
  chainEnded,
  stepEndedFirst,
  tooDeepForChain,
  waitsForChain,
} from '../../src/messages/run/chain-step.ts';
import { fitting } from '../../src/messages/text/fitting.ts';
import { link } from '../../src/messages/text/link.ts';
import {
  asSentence,
  capital,
  clip,
  listed,
  plural,
  reactionEmoji,
  utc,
} from '../../src/messages/text/pretty.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';

describe('short phrases', () => {
  it.each([
    [() => plural(1, 'file'), '1 file'],
    [() => plural(3_000, 'file'), '3,000 files'],
    [() => listed([], 'or'), ''],
    [() => listed(['a'], 'or'), 'a'],
    [() => listed(['a', 'b', 'c'], 'and'), 'a, b and c'],
    [() => capital('émile'), 'Émile'],
    [() => asSentence('it is so'), 'It is so.'],
    [() => asSentence('Is it?'), 'Is it?'],
    [() => utc(new Date('2025-03-01T12:05:59Z')), '2025-03-01 12:05 UTC'],
    [() => reactionEmoji('rocket'), '🚀'],
    [() => reactionEmoji('<new>'), ':new:'],
  ])('%s is %s', (make, expected) => {
    expect(make()).toBe(expected);
  });

  it('clip keeps at most the given number of characters and never half a pair', { tags: 'slow' }, () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 20 }), (text, letters) => {
        const clipped = clip(text, letters);
        expect(Array.from(clipped).length).toBeLessThanOrEqual(letters);
        expect(clipped === text || clipped.endsWith('…')).toBe(true);
      }),
    );
  });
});

describe('fitting', () => {
  eachFirstQuick([25, 100])(
    'never takes more bytes or items than the limits, and counts the rest, in %i cases',
    async (numRuns) => {
      fc.assert(
        fc.property(
          fc.array(fc.string({ unit: 'binary' })),
          fc.integer({ min: 0, max: 200 }),
          fc.integer({ min: 0, max: 20 }),
          (items, bytes, count) => {
            const { lines, left } = fitting(items, (item) => item, { bytes, items: count });
            expect(Buffer.byteLength(lines.join('\n'))).toBeLessThanOrEqual(bytes);
            expect(lines.length).toBeLessThanOrEqual(count);
            expect(lines).toEqual(items.slice(0, items.length - left));
          },
        ),
        { numRuns },
      );
    },
  );
});

describe('link', () => {
  it.each([
    ['https://github.com@evil.example/', 'x'],
    ['https://user:word@ci.example/', 'x'],
    ['https://ci.example/a?b=c&d=1#e', '[x](https://ci.example/a?b=c&d=1#e)'],
    ['http://ci.example/(a)|`*', '[x](http://ci.example/%28a%29%7c%60%2a)'],
    ['javascript:alert(1)', 'x'],
    ['data:text/html,x', 'x'],
    ['/relative', 'x'],
    ['', 'x'],
    [null, 'x'],
    [`https://ci.example/${'a'.repeat(2_000)}`, 'x'],
  ])('of %s is %s', (address, expected) => {
    expect(link('x', address)).toBe(expected);
  });
});

it('the words about a step that runs a chain are unchanged', () => {
  const because = reason('run.failed.step', 'step say failed: it has no body');
  const ends = (['completed', 'failed', 'timed_out', 'aborted', 'cancelled'] as const).map((status) =>
    chainEnded({ chain: 'inner', status, reason: status === 'completed' ? null : because }),
  );
  const words = [
    waitsForChain('inner'),
    ...ends,
    stepEndedFirst('outer', 'sub'),
    tooDeepForChain('inner', 5),
  ];
  expect(words.join('\n')).toMatchInlineSnapshot(`
    "until its run of the chain inner has ended
    inner completed
    inner failed: step say failed: it has no body
    inner timed out: step say failed: it has no body
    inner was aborted: step say failed: it has no body
    inner was cancelled: step say failed: it has no body
    the step sub of outer, which ran it, has ended
    inner does not begin: 5 runs have started one another already, and no more may"
  `);
});
