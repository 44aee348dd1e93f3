import { randomUUID } from 'node:crypto';
import { mkdir, open, realpath, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/**
 * How often to create a folder again that another process removed before the file was in it, because it
 * deleted the folder's last file.
 */
const TRIES = 5;

/**
 * Writes beside the target, makes it durable, then renames, so that a reader, or a restart after a crash,
 * finds either the old or the new bytes. A crash can leave a `.tmp-…` file behind, which nothing refers to.
 */
export async function replaceFile(target: string, bytes: Uint8Array): Promise<void> {
  await inFolderOf(target, async (folder) => {
    const temporary = join(folder, `${TEMPORARY}${randomUUID()}`);
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
  });
}

/** The prefix of incomplete files. */
export const TEMPORARY = '.tmp-';

/**
 * Appends a line in one write. It also starts with a line end, so that half a line from a crash does not
 * spoil it.
 */
export async function appendLine(target: string, line: string): Promise<void> {
  await inFolderOf(target, async () => {
    const file = await open(target, 'a', 0o600);
    try {
      await file.write(`\n${line}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
  });
}

/** Removes empty folders above the file, up to but not including the root. */
export async function removeEmptyFolders(root: string, file: string): Promise<void> {
  const top = await realpath(root).catch(() => undefined);
  if (top === undefined) return;
  for (let at = dirname(file); relative(top, at) !== '' && at.startsWith(top); at = dirname(at)) {
    try {
      await rmdir(at);
    } catch {
      // Not empty, or another process removed it.
      return;
    }
  }
}

/** Creates the folder of the file, does the work, and makes the file's name durable. */
async function inFolderOf(target: string, work: (folder: string) => Promise<void>): Promise<void> {
  const folder = dirname(target);
  for (let tries = 1; ; tries += 1) {
    try {
      // This also fails if another process removes a parent folder meanwhile.
      const firstMade = await mkdir(folder, { recursive: true, mode: 0o700 });
      await work(folder);
      // A name is durable once its folder is synced, and a new folder's name once its parent is.
      const highest = firstMade === undefined ? folder : dirname(firstMade);
      for (let at = folder; ; at = dirname(at)) {
        await syncFolder(at);
        if (at === highest) return;
      }
    } catch (error) {
      const gone = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      if (!gone || tries === TRIES) throw error;
    }
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
