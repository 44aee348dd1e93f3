import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { open as openFile, readFile, realpath, rm, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { CountersignError, messageOf } from '../../core/errors.ts';
import type { BlobFacts, Blobs } from '../../ports/blobs.ts';
import { expectBlobPath, OWN_FOLDER } from '../blobs/blob-path.ts';
import { checkedRead, wholeOf } from '../blobs/checked-read.ts';
import { appendLine, removeEmptyFolders, replaceFile } from './durable.ts';
import { isAbsence, safeJoin } from './safe-join.ts';
import { filesBelow } from './walk.ts';

/**
 * Blobs as files below `root`, which is made when it does not exist. The hashes lie beside them, in `.countersign/sha256`
 * under the same names, so that a blob's file holds the blob and nothing else.
 * @throws CountersignError `storage.unavailable`, here and from `put` and `delete`, for what the owner of the disk can mend.
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

  /** The blob's file and that of its hashes. Of a path through a link both are those of where it leads. */
  async function filesOf(path: string): Promise<{ blob: string; hashes: string }> {
    expectBlobPath(path);
    const blob = await safeJoin(root, path);
    const real = relative(await realpath(root), blob)
      .split(sep)
      .join('/');
    return { blob, hashes: await safeJoin(root, `${OWN_FOLDER}/sha256/${real}`) };
  }

  async function factsOf(path: string): Promise<BlobFacts | undefined> {
    const found = await unlessAbsent(stat((await filesOf(path)).blob));
    return found?.isFile() ? { path, size: found.size, modifiedAt: found.mtime } : undefined;
  }

  async function open(path: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    return (await factsOf(path)) && read(path);
  }

  async function* read(path: string): AsyncIterable<Uint8Array> {
    const { blob, hashes } = await filesOf(path);
    const file = await openFile(blob);
    try {
      // After the file was opened: then a put that comes in between cannot give bytes whose hash was not seen.
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
        // Every hash that the path was ever put with stays, and comes before its bytes: neither a crash in between nor a
        // second writer can leave bytes without theirs, which two files could not promise if the hash were replaced.
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
      return (await factsOf(path)) !== undefined;
    },

    stat: factsOf,

    async *list() {
      for await (const path of filesBelow(root)) {
        const facts = await factsOf(path);
        if (facts) yield facts;
      }
    },

    async delete(path) {
      const { blob, hashes } = await filesOf(path);
      await onDisk(root, async () => {
        // The bytes first: a crash in between leaves hashes of nothing, which nobody sees and the next put adds to.
        for (const file of [blob, hashes]) await unlessAbsent(rm(file));
        await removeEmptyFolders(root, blob);
        await removeEmptyFolders(join(root, OWN_FOLDER), hashes);
      });
    },
  };
}

async function unlessAbsent<T>(looking: Promise<T>): Promise<T | undefined> {
  try {
    return await looking;
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** Says what the owner of the disk can do about an error of the file system; other errors are thrown on as they are. */
async function onDisk(root: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const said = DISK_FAILURES[code];
    if (said === undefined) throw error;
    const sentence = `The folder ${root}, which holds the artifacts, cannot be written to: ${said}.`;
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
