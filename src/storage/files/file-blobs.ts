import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CountersignError, messageOf } from '../../core/errors.ts';
import type { Blobs } from '../blobs.ts';
import { isAbsence, safeJoin } from './safe-join.ts';

/**
 * Blobs as files below `root`, which is made when it does not exist.
 * @throws CountersignError `storage.unavailable`, here and from `put`, for what the owner of the disk can mend.
 */
export function createFileBlobs(root: string): Blobs {
  try {
    mkdirSync(root, { recursive: true, mode: 0o700 });
  } catch (error) {
    // Node calls a read-only disk ENOENT here, so the code alone would mislead.
    throw new CountersignError(
      'storage.unavailable',
      `The folder ${root} for artifacts cannot be made (${messageOf(error)}): the app must be able to write there.`,
      { cause: error },
    );
  }
  return {
    async put(path, data) {
      const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
      const target = await safeJoin(root, path);
      try {
        await replaceFile(target, bytes);
      } catch (error) {
        throw diskFailure(error, root);
      }
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

/** What the owner of the disk can do about an error of the file system; other errors are returned as they are. */
function diskFailure(error: unknown, root: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const said = DISK_FAILURES[code];
  if (said === undefined) return error;
  const sentence = `The folder ${root}, which holds the artifacts, cannot be written to: ${said}.`;
  return new CountersignError('storage.unavailable', sentence, { cause: error });
}

const DISK_FAILURES: Readonly<Record<string, string>> = {
  ENOSPC: 'its disk is full',
  EDQUOT: 'its disk quota is used up',
  EROFS: 'its disk is read-only',
  EACCES: 'the app may not write there',
  EPERM: 'the app may not write there',
  ENOTDIR: 'there is a file in its place',
  EIO: "its disk failed; the system's log says how",
};

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
