import { randomUUID } from 'node:crypto';
import { mkdir, open, realpath, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/** How often a folder is made anew that somebody who deleted its last file took away before the file was in it. */
const TRIES = 5;

/**
 * Writes beside the target, makes it durable, then renames: a reader, and a crash, find the old bytes or the new ones.
 * A crash can leave a `.tmp-…` file behind, which nothing refers to.
 */
export async function replaceFile(target: string, bytes: Uint8Array): Promise<void> {
  await inItsFolder(target, async (folder) => {
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

/** What the names of files that are not whole begin with. */
export const TEMPORARY = '.tmp-';

/** Adds a line at the end, in one write. It begins with a line end too, so that half a line from a crash spoils none. */
export async function appendLine(target: string, line: string): Promise<void> {
  await inItsFolder(target, async () => {
    const file = await open(target, 'a', 0o600);
    try {
      await file.write(`\n${line}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
  });
}

/** Removes the folders above the file up to the root, as far as they are empty; the root stays. */
export async function removeEmptyFolders(root: string, file: string): Promise<void> {
  const top = await realpath(root).catch(() => undefined);
  if (top === undefined) return;
  for (let at = dirname(file); relative(top, at) !== '' && at.startsWith(top); at = dirname(at)) {
    try {
      await rmdir(at);
    } catch {
      // Not empty, or another one removed it.
      return;
    }
  }
}

/** Makes the folder of the file, does the work, and makes the file's name durable. */
async function inItsFolder(target: string, work: (folder: string) => Promise<void>): Promise<void> {
  const folder = dirname(target);
  for (let tries = 1; ; tries += 1) {
    try {
      // It fails, too, when somebody removes one of the folders above while it goes down.
      const firstMade = await mkdir(folder, { recursive: true, mode: 0o700 });
      await work(folder);
      // A name is durable once its folder is, and a new folder's name once the folder above is.
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
