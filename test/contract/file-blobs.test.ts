import {
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { safeJoin } from '../../src/adapters/files/safe-join.ts';
import { openBlobs } from '../../src/composition/blobs.ts';
import { temporaryFolders } from '../support/temp.ts';
import { blobsContract } from './blobs.contract.ts';

const folder = temporaryFolders();

describe('file blobs', () => {
  blobsContract(() => {
    const root = join(folder(), 'artifacts');
    return {
      blobs: openBlobs(`file:${root}`),
      damage: async (path, bytes) => writeFileSync(join(root, path), bytes),
      forgetHash: async (path) => rmSync(join(root, '.countersign', 'sha256', path)),
    };
  });

  it('leave no other files', async () => {
    const root = folder();
    const blobs = openBlobs(`file:${root}`);
    await blobs.put('run/a', 'one');
    await blobs.put('run/a', 'two');
    expect(readdirSync(join(root, 'run'))).toEqual(['a']);
  });

  it('never read or write through a link that leads outside', async () => {
    const root = folder();
    const outside = folder();
    writeFileSync(join(outside, 'secret'), 'precious');
    symlinkSync(outside, join(root, 'way-out'));
    symlinkSync(join(outside, 'secret'), join(root, 'file'));
    symlinkSync(join(outside, 'new'), join(root, 'dangling'));
    const blobs = openBlobs(`file:${root}`);
    for (const path of ['way-out/secret', 'way-out/new', 'file', 'dangling', 'dangling/a']) {
      await expect(blobs.get(path)).rejects.toMatchObject({ code: 'blobs.unsafe_path' });
      await expect(blobs.put(path, 'x')).rejects.toMatchObject({ code: 'blobs.unsafe_path' });
    }
    expect(readdirSync(outside)).toEqual(['secret']);
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('precious');
  });

  it('are readable after a crash between hash and bytes, or in the middle of a hash', async () => {
    const root = folder();
    const hashes = join(root, '.countersign', 'sha256', 'a');
    const blobs = openBlobs(`file:${root}`);
    await blobs.put('a', 'old');
    writeFileSync(hashes, `${readFileSync(hashes, 'utf8')}\n${'0'.repeat(64)}\n\nf00`);
    expect(new TextDecoder().decode(await blobs.get('a'))).toBe('old');
    await blobs.put('a', 'new');
    expect(new TextDecoder().decode(await blobs.get('a'))).toBe('new');
  });

  it('are stored in a folder that is removed before the blob is in it', { tags: 'slow' }, async () => {
    const root = folder();
    const blobs = openBlobs(`file:${root}`);
    let taken = 0;
    for (let times = 0; times < 12; times += 1) {
      let putting = true;
      const takeOnce = async () => {
        while (putting) {
          const gone = await rmdir(join(root, 'run')).then(
            () => true,
            () => false,
          );
          if (gone) {
            taken += 1;
            return;
          }
        }
      };
      const taking = takeOnce();
      await blobs.put('run/a', 'x').finally(() => {
        putting = false;
      });
      await taking;
      await blobs.delete('run/a');
    }
    expect(taken).toBeGreaterThan(0);
  });

  it('do not list incomplete files, links, and files with invalid names', async () => {
    const root = folder();
    const blobs = openBlobs(`file:${root}`);
    await blobs.put('run/a', 'x');
    writeFileSync(join(root, 'run', '.tmp-1'), 'half');
    writeFileSync(join(root, 'run', 'back\\slash'), '');
    symlinkSync('a', join(root, 'run', 'link'));
    symlinkSync('..', join(root, 'run', 'loop'));
    const paths: string[] = [];
    for await (const { path } of blobs.list()) paths.push(path);
    expect(paths).toEqual(['run/a']);
  });

  it('follow a link inside the store, and a store that is a link itself', async () => {
    const root = folder();
    mkdirSync(join(root, 'real'));
    symlinkSync(join(root, 'real'), join(root, 'alias'));
    const link = join(folder(), 'store');
    symlinkSync(root, link);
    await openBlobs(`file:${link}`).put('alias/a', 'x');
    expect(readFileSync(join(root, 'real', 'a'), 'utf8')).toBe('x');
  });

  it('fail on a folder at the path of a blob, and leave no partial file', async () => {
    const root = folder();
    const blobs = openBlobs(`file:${root}`);
    await blobs.put('a/b', 'x');
    await expect(blobs.put('a', 'y')).rejects.toThrow();
    expect(readdirSync(root)).toEqual(['.countersign', 'a']);
    expect(readdirSync(join(root, '.countersign', 'sha256'))).toEqual(['a']);
  });

  it.each(['s3://bucket/prefix', 'file:', 'data/artifacts', 'file://host/x', ''])(
    'refuse ARTIFACTS_URL "%s"',
    (url) => {
      expect(() => openBlobs(url)).toThrow(/ARTIFACTS_URL/);
    },
  );
});

describe('a safe path', () => {
  const part = fc.oneof(
    fc.constantFrom(
      '..',
      '.',
      '',
      '/',
      '\\',
      '~',
      'a',
      'link',
      'up',
      'loop',
      '%2e%2e',
      '..\u0000',
      '\u2025',
      'C:',
    ),
    fc.string({ maxLength: 8 }),
  );

  it('is inside the root, or an error', async () => {
    const root = folder();
    symlinkSync('/', join(root, 'link'));
    symlinkSync('..', join(root, 'up'));
    symlinkSync('loop', join(root, 'loop'));
    const inside = realpathSync(root) + sep;
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
        const relative = parts.join('/');
        const path = await safeJoin(root, relative).catch((error: unknown) => {
          expect(error).toMatchObject({ code: 'blobs.unsafe_path' });
        });
        if (path === undefined) return;
        expect(path.startsWith(inside)).toBe(true);
        expect(path).toBe(inside + relative.split('/').join(sep));
      }),
      { numRuns: 500 },
    );
  });
});
