import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { BlobFacts, Blobs } from '../../src/ports/blobs.ts';

export interface BlobStore {
  blobs: Blobs;
  /** Replaces a blob's bytes, as a failing disk or an attacker would: its hash stays as it was. */
  damage(path: string, bytes: Uint8Array): Promise<void>;
  /** Removes the hash of a blob. */
  forgetHash(path: string): Promise<void>;
}

const sha256Of = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function piecesOf(pieces: AsyncIterable<Uint8Array> | undefined): Promise<Uint8Array[]> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces ?? []) all.push(piece);
  return all;
}

/** What every blob store does. */
export function blobsContract(open: () => BlobStore): void {
  let store: BlobStore;
  let blobs: Blobs;
  beforeEach(() => {
    store = open();
    ({ blobs } = store);
  });

  const listed = async () => {
    const all: BlobFacts[] = [];
    for await (const facts of blobs.list()) all.push(facts);
    return all.sort((a, b) => (a.path < b.path ? -1 : 1));
  };
  const pathsListed = async () => (await listed()).map(({ path }) => path);

  it('returns the bytes that were put', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const sha256 = sha256Of(bytes);
    expect(await blobs.put('run1/ses1/report.bin', bytes)).toEqual({
      path: 'run1/ses1/report.bin',
      size: 256,
      sha256,
    });
    expect([...((await blobs.get('run1/ses1/report.bin')) ?? [])]).toEqual([...bytes]);
    expect(await blobs.has('run1/ses1/report.bin')).toBe(true);
  });

  it('stores text as UTF-8', async () => {
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

  it('returns undefined where nothing was put', async () => {
    await blobs.put('a/b', 'x');
    for (const path of ['c', 'a', 'a/c', 'a/b/c']) expect(await blobs.has(path)).toBe(false);
    for (const path of ['c', 'a', 'a/c', 'a/b/c']) expect(await blobs.get(path)).toBeUndefined();
    for (const path of ['c', 'a', 'a/c', 'a/b/c']) expect(await blobs.open(path)).toBeUndefined();
    for (const path of ['c', 'a', 'a/c', 'a/b/c']) expect(await blobs.stat(path)).toBeUndefined();
  });

  it('returns the size and age of a blob without its bytes', async () => {
    const before = Date.now();
    await blobs.put('a/b', 'four');
    const facts = await blobs.stat('a/b');
    expect(facts).toMatchObject({ path: 'a/b', size: 4 });
    // The header with the time has whole seconds.
    const modified = facts?.modifiedAt.getTime();
    expect(modified).toBeGreaterThan(before - 1_500);
    expect(modified).toBeLessThan(Date.now() + 1_500);
  });

  it('returns a large blob in pieces', async () => {
    const bytes = manyBytes(600_000);
    await blobs.put('large', bytes);
    const pieces = await piecesOf(await blobs.open('large'));
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
    expect(Math.max(...pieces.map(({ byteLength }) => byteLength))).toBeLessThan(bytes.byteLength / 4);
  });

  it('returns an empty blob without pieces', async () => {
    await blobs.put('empty', '');
    expect(await piecesOf(await blobs.open('empty'))).toEqual([]);
  });

  it('lists every blob with its size', async () => {
    expect(await listed()).toEqual([]);
    for (const path of ['run1/a', 'run1/deep/er/b', 'run2/a', 'z']) await blobs.put(path, path);
    expect(await listed()).toMatchObject(
      ['run1/a', 'run1/deep/er/b', 'run2/a', 'z'].map((path) => ({ path, size: path.length })),
    );
  });

  it('deletes exactly the given blob, and accepts one that does not exist', async () => {
    for (const path of ['run1/a', 'run1/b']) await blobs.put(path, path);
    for (let times = 0; times < 2; times += 1) await blobs.delete('run1/a');
    expect(await blobs.get('run1/a')).toBeUndefined();
    expect(await pathsListed()).toEqual(['run1/b']);
  });

  it('stores a blob at the path of a folder whose blobs are deleted', async () => {
    await blobs.put('a/b/c', 'x');
    await blobs.delete('a/b/c');
    await blobs.put('a', 'y');
    expect(await pathsListed()).toEqual(['a']);
  });

  it('stores blobs in a folder from which others are being deleted', async () => {
    const paths = Array.from({ length: 12 }, (_, index) => `run/${index}`);
    for (const path of paths) {
      await blobs.put(path, path);
      await Promise.all([blobs.delete(path), blobs.put(`${path}-next`, path)]);
      await blobs.delete(`${path}-next`);
    }
    expect(await pathsListed()).toEqual([]);
  });

  it.each([
    'a b+c',
    '100%',
    '%2e%2e/a',
    'ü/日本',
    'quote\'"',
    '<&amp;>',
    '!*()~',
    '~a',
    'a?b=c#d',
    'new\nline',
  ])('accepts %j as a path', async (path) => {
    await blobs.put(path, path);
    expect(new TextDecoder().decode(await blobs.get(path))).toBe(path);
    expect(await pathsListed()).toEqual([path]);
    await blobs.delete(path);
    expect(await pathsListed()).toEqual([]);
  });

  const whole = manyBytes(100_000);
  it.each([
    ['cut short', whole.subarray(0, 70_000)],
    ['empty', new Uint8Array()],
    ['changed in one bit', whole.with(77, (whole[77] ?? 0) ^ 1)],
    ['longer', Buffer.concat([whole, Buffer.of(0)])],
  ])(
    'returns no bytes of a blob that is %s, but an error with the path and both hashes',
    async (_how, bytes) => {
      await blobs.put('run1/report', whole);
      await store.damage('run1/report', bytes);
      const damaged = {
        code: 'blobs.damaged',
        message:
          `The blob run1/report is not what was stored: its ${bytes.byteLength} bytes have the SHA-256 ` +
          `${sha256Of(bytes)}, where ${sha256Of(whole)} was stored.`,
      };
      await expect(blobs.get('run1/report')).rejects.toMatchObject(damaged);
      let read = 0;
      const reading = async () => {
        for await (const piece of (await blobs.open('run1/report')) ?? []) read += piece.byteLength;
      };
      await expect(reading()).rejects.toMatchObject(damaged);
      // However many pieces came, the last did not, so nobody can mistake them for the whole.
      expect(read).toBeLessThan(Math.max(1, bytes.byteLength));
    },
  );

  it('returns no bytes of a blob whose hash is gone', async () => {
    await blobs.put('a', 'x');
    await store.forgetHash('a');
    await expect(blobs.get('a')).rejects.toMatchObject({
      code: 'blobs.damaged',
      message: expect.stringMatching(/SHA-256 2d71.{60}, and nothing says which it should have\.$/),
    });
  });

  it('returns the bytes before or after while a blob is replaced, and never an error', async () => {
    await blobs.put('a', 'a'.repeat(70_000));
    for (const letter of ['b', 'c', 'd', 'e']) {
      const [seen] = await Promise.all([blobs.get('a'), blobs.put('a', letter.repeat(70_000))]);
      expect(new Set(seen)).toHaveProperty('size', 1);
    }
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
    'half a pair \ud800',
    '.countersign/sha256/a',
    '.Countersign/a',
  ])('%j', (path) => {
    it('is refused as a path', async () => {
      const refused = { code: 'blobs.unsafe_path' };
      await expect(blobs.put(path, 'x')).rejects.toMatchObject(refused);
      await expect(blobs.get(path)).rejects.toMatchObject(refused);
      await expect(blobs.has(path)).rejects.toMatchObject(refused);
      await expect(blobs.open(path)).rejects.toMatchObject(refused);
      await expect(blobs.stat(path)).rejects.toMatchObject(refused);
      await expect(blobs.delete(path)).rejects.toMatchObject(refused);
    });
  });
}

/** Not random: some of so many random bytes would look like a secret now and then, and be hidden. */
function manyBytes(size: number): Buffer {
  return Buffer.from(Array.from({ length: size }, (_, index) => (index * 31) % 251));
}
