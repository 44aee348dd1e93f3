import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packJson, unpackJson } from '../../../src/adapters/sql/packed-json.ts';
import { FIRST_DICTIONARY } from '../../../src/adapters/sql/packing-dictionary.ts';

const reason = JSON.stringify({ code: 'step.completed', summary: 'No findings in 7 files.', evidence: [] });

describe('packed JSON', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(fc.oneof(fc.array(fc.json()), fc.object()), (value) => {
        const text = JSON.stringify(value);
        const packed = packJson(text);
        expect(unpackJson(packed)).toBe(text);
        expect(packJson(packed)).toBe(packed);
        expect(() => JSON.parse(packed)).not.toThrow();
      }),
    );
  });

  it('takes less than half the space of a text that resembles the dictionary', () => {
    expect(packJson(reason).length * 2).toBeLessThan(reason.length);
  });

  it.each(['{}', '"~1:text of somebody"', '7', 'null'])('leaves %s as it is', (text) => {
    expect(packJson(text)).toBe(text);
  });

  it('that an earlier version packed is read', () => {
    expect(unpackJson('"~1:I2OUwxwcicVowxyxtQA="')).toBe(reason);
    expect(createHash('sha256').update(FIRST_DICTIONARY).digest('hex')).toBe(
      '197c44a565aeba27f3bf7c1d6a4d7b4835a67fb2e737cdcee11c12b2dca81ccf',
    );
  });

  it('of a later version is refused', () => {
    expect(() => unpackJson('"~2:I2OUwxwcicVowxyxtQA="')).toThrow('a later version');
  });
});
