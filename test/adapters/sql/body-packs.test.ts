import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Pack, packBodies, unpackBody } from '../../../src/adapters/sql/body-packs.ts';

const KB = 1_024;

describe('bodies in packs', () => {
  it('are read as they were written, whatever their sizes, in the given order', { tags: 'slow' }, () => {
    const size = fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 700 * KB }));
    fc.assert(
      fc.property(fc.array(size, { maxLength: 8 }), (sizes) => {
        const items = sizes.map((size, n) => ({ n, body: Buffer.alloc(size, `body ${n} `) }));
        const found = [...packBodies(items)].flatMap(({ pack, contents }) =>
          contents.map(({ item, place }) => ({ n: item.n, body: unpackBody(pack, place) })),
        );
        expect(found.map(({ n }) => n)).toEqual(items.map(({ n }) => n));
        expect(found.every(({ n, body }) => items[n]?.body.equals(body))).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  it('share packs of at most 512 KB, and a larger body has its own', () => {
    const sizes = [200, 312, 1, 600, 512, 1, 1].map((size) => size * KB);
    const packs = [...packBodies(sizes.map((size) => ({ body: Buffer.alloc(size) })))];
    expect(packs.map(({ contents }) => contents.map(({ place }) => place.length / KB))).toEqual([
      [200, 312],
      [1],
      [600],
      [512],
      [1, 1],
    ]);
  });

  it("take a tenth of the space that GitHub's own examples take", () => {
    const examples: { examples: object[] }[] = createRequire(import.meta.url)('@octokit/webhooks-examples');
    const items = examples.flatMap((event) =>
      event.examples.map((example) => ({ body: Buffer.from(JSON.stringify(example)) })),
    );
    const before = items.reduce((sum, { body }) => sum + body.length, 0);
    const after = [...packBodies(items)].reduce((sum, { pack }) => sum + pack.bytes.length, 0);
    expect(after).toBeLessThan(before / 10);
  });

  it('are read from their own rows if they were recorded before packs existed', () => {
    const bytes = Buffer.from('{}');
    expect(unpackBody({ encoding: 'none', bytes }, { start: 0, length: 2 })).toEqual(bytes);
  });

  it('keep nothing else of their pack in memory once they are read', () => {
    const [packed] = packBodies([Buffer.from('{"one":1}'), Buffer.alloc(300 * KB)].map((body) => ({ body })));
    const { buffer } = unpackBody(packed?.pack as Pack, { start: 0, length: 9 });
    expect(buffer.byteLength).toBe(9);
  });

  it.each([
    ['is cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length - 3)],
    ['has a byte that changed', (bytes: Buffer) => bytes.fill(bytes[9] ? 0 : 1, 9, 10)],
    ['has other bytes', () => Buffer.from('no pack at all')],
  ])('are not read from a pack that %s', (_, spoil) => {
    const [packed] = packBodies([{ body: Buffer.from('{"one":1,"two":2,"three":3}') }]);
    const bytes = spoil(Buffer.from(packed?.pack.bytes ?? []));
    expect(() => unpackBody({ encoding: 'zstd', bytes }, { start: 0, length: 5 })).toThrow();
  });

  it('are not read from a pack that ends before them', () => {
    const [packed] = packBodies([{ body: Buffer.from('short') }]);
    if (!packed) throw new Error('no pack');
    expect(() => unpackBody(packed.pack, { start: 2, length: 4 })).toThrow('too short');
  });
});
