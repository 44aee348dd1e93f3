import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { opendir, open as openFile, readFile, realpath, rm, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { CountersignError, messageOf } from '../../core/errors.ts';
import type { BlobFacts, Blobs } from '../../ports/blobs.ts';
import { expectBlobPath, isBlobPath, OWN_FOLDER } from '../blobs/blob-path.ts';
import { checkedRead, wholeOf } from '../blobs/checked-read.ts';
import { appendLine, removeEmptyFolders, replaceFile, TEMPORARY } from './durable.ts';
import { isAbsence, safeJoin } from './safe-join.ts';

/**
 * Blobs as files below `root`, which is created if it does not exist. The hashes are in `.countersign/sha256`
 * under the same names, so that a blob's file contains only the blob.
 * @throws CountersignError `storage.unavailable`, here and from `put` and `delete`, for problems that the
 * disk's owner can fix
 */
export function createFileBlobs(root: string): Blobs {
  try {
    mkdirSync(root, { recursive: true, mode: 0o700 });
  } catch (error) {
    // Node reports ENOENT for a read-only disk here, so the message says more than the code.
    throw new CountersignError(
      'storage.unavailable',
      `The folder ${root} for artifacts cannot be made (${messageOf(error)}): the app must be able to write there.`,
      { cause: error },
    );
  }

  /** The blob's file and its file of hashes. For a path through a link, both are at the link's target. */
  async function filesOf(path: string): Promise<{ blob: string; hashes: string }> {
    expectBlobPath(path);
    const blob = await safeJoin(root, path);
    const real = relative(await realpath(root), blob)
      .split(sep)
      .join('/');
    return { blob, hashes: await safeJoin(root, `${OWN_FOLDER}/sha256/${real}`) };
  }

  async function statBlob(path: string): Promise<BlobFacts | undefined> {
    const found = await unlessAbsent(stat((await filesOf(path)).blob));
    return found?.isFile() ? { path, size: found.size, modifiedAt: found.mtime } : undefined;
  }

  async function open(path: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    return (await statBlob(path)) && read(path);
  }

  async function* read(path: string): AsyncIterable<Uint8Array> {
    const { blob, hashes } = await filesOf(path);
    const file = await openFile(blob);
    try {
      // After the file was opened: otherwise a concurrent put could deliver bytes whose hash was not read.
      const lines = (await unlessAbsent(readFile(hashes, 'utf8')))?.split('\n') ?? [];
      const known = lines.filter((line) => /^[0-9a-f]{64}$/.test(line));
      yield* checkedRead(path, file.createReadStream({ autoClose: false }), known);
    } finally {
      await file.close();
    }
  }

  return {
    async put(path, data) {
      const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const { blob, hashes } = await filesOf(path);
      await onDisk(root, async () => {
        // Every hash that the path ever had stays, and a hash is written before its bytes. So neither a crash
        // in between nor a second writer can leave bytes without their hash, which two files could not
        // guarantee if the hash were replaced.
        await appendLine(hashes, sha256);
        await replaceFile(blob, bytes);
      });
      return { path, size: bytes.byteLength, sha256 };
    },

    async get(path) {
      const pieces = await open(path);
      return pieces && unlessAbsent(wholeOf(pieces));
    },

    open,

    async has(path) {
      return (await statBlob(path)) !== undefined;
    },

    stat: statBlob,

    async *list() {
      for await (const path of filesBelow(root)) {
        const facts = await statBlob(path);
        if (facts) yield facts;
      }
    },

    async delete(path) {
      const { blob, hashes } = await filesOf(path);
      await onDisk(root, async () => {
        // The bytes first: a crash in between leaves only hashes, which are invisible and extended by the
        // next put.
        for (const file of [blob, hashes]) await unlessAbsent(rm(file));
        await removeEmptyFolders(root, blob);
        await removeEmptyFolders(join(root, OWN_FOLDER), hashes);
      });
    },
  };
}

async function unlessAbsent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** Adds what the disk's owner can do about a file system error. Rethrows other errors unchanged. */
async function onDisk(root: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const problem = DISK_FAILURES[code];
    if (problem === undefined) throw error;
    const sentence = `The folder ${root}, which holds the artifacts, cannot be written to: ${problem}.`;
    throw new CountersignError('storage.unavailable', sentence, { cause: error });
  }
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
 * The paths of all blobs below the root. Skips links, whose targets are either found by their own names or
 * outside, and names that no blob can have, which another program created.
 */
async function* filesBelow(root: string, folder = ''): AsyncIterable<string> {
  try {
    for await (const entry of await opendir(join(root, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (!isBlobPath(path)) continue;
      if (entry.isDirectory()) yield* filesBelow(root, path);
      else if (entry.isFile() && !entry.name.startsWith(TEMPORARY)) yield path;
    }
  } catch (error) {
    if (!isAbsence(error)) throw error;
  }
}
