import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Blobs } from '../blobs.ts';
import { isAbsence, safeJoin } from './safe-join.ts';

/** Blobs as files below `root`, which is made when it does not exist. */
export function createFileBlobs(root: string): Blobs {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  return {
    async put(path, data) {
      const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
      await replaceFile(await safeJoin(root, path), bytes);
      return { path, size: bytes.byteLength, sha256: createHash('sha256').update(bytes).digest('hex') };
    },

    async get(path) {
      try {
        return await readFile(await safeJoin(root, path));
      } catch (error) {
        if (isAbsence(error)) return undefined;
        throw error;
      }
    },

    async has(path) {
      try {
        return (await stat(await safeJoin(root, path))).isFile();
      } catch (error) {
        if (isAbsence(error)) return false;
        throw error;
      }
    },
  };
}

/**
 * Writes beside the target, makes it durable, then renames: a reader, and a crash, find the old bytes or the new ones.
 * A crash can leave a `.tmp-…` file behind, which nothing refers to.
 */
async function replaceFile(target: string, bytes: Uint8Array): Promise<void> {
  const folder = dirname(target);
  const firstMade = await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = join(folder, `.tmp-${randomUUID()}`);
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  // A name is durable once its folder is, and a new folder's name once the folder above is.
  const highest = firstMade === undefined ? folder : dirname(firstMade);
  for (let at = folder; ; at = dirname(at)) {
    await syncFolder(at);
    if (at === highest) break;
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
