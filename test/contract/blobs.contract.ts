import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Blobs } from '../../src/storage/blobs.ts';

/** What every blob store does. */
export function blobsContract(open: () => Blobs): void {
  let blobs: Blobs;
  beforeEach(() => {
    blobs = open();
  });

  it('gives back the bytes that were put', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(await blobs.put('run1/ses1/report.bin', bytes)).toEqual({
      path: 'run1/ses1/report.bin',
      size: 256,
      sha256,
    });
    expect([...((await blobs.get('run1/ses1/report.bin')) ?? [])]).toEqual([...bytes]);
    expect(await blobs.has('run1/ses1/report.bin')).toBe(true);
  });

  it('takes text as UTF-8', async () => {
    expect((await blobs.put('a.txt', 'Grüße')).size).toBe(7);
    expect(new TextDecoder().decode(await blobs.get('a.txt'))).toBe('Grüße');
  });

  it('replaces what was at the path', async () => {
    await blobs.put('a', 'a longer text');
    await blobs.put('a', 'short');
    expect(new TextDecoder().decode(await blobs.get('a'))).toBe('short');
  });

  it('keeps an empty blob', async () => {
    await blobs.put('empty', '');
    expect(await blobs.get('empty')).toHaveLength(0);
    expect(await blobs.has('empty')).toBe(true);
  });

  it('has nothing where nothing was put', async () => {
    await blobs.put('a/b', 'x');
    for (const path of ['c', 'a', 'a/c', 'a/b/c']) expect(await blobs.has(path)).toBe(false);
    for (const path of ['c', 'a', 'a/c', 'a/b/c']) expect(await blobs.get(path)).toBeUndefined();
  });

  describe.each([
    '../a',
    '/a',
    'a/../b',
    './a',
    'a//b',
    'a/',
    '',
    'a\0b',
    'a\\..\\b',
    'C:/a',
    'ü'.repeat(128),
  ])('%j', (path) => {
    it('is refused as a path', async () => {
      const refused = { code: 'blobs.unsafe_path' };
      await expect(blobs.put(path, 'x')).rejects.toMatchObject(refused);
      await expect(blobs.get(path)).rejects.toMatchObject(refused);
      await expect(blobs.has(path)).rejects.toMatchObject(refused);
    });
  });
}
