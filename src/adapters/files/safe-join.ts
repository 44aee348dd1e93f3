import { lstat, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { unsafeFilePathReason } from '../../core/path.ts';
import { unsafePath } from '../blobs/blob-path.ts';

/**
 * The real path of `relative` inside `root`, whether or not it exists. The only way from a name to a file: it
 * follows every link on the way and requires its target to be inside the root.
 *
 * A process that can write into the root can still replace a folder with a link before the path is used. So
 * nothing untrusted may write there. `openat2` would close this gap, but Node does not offer it.
 * @throws CountersignError `blobs.unsafe_path` if the path is not relative and plain, or leads outside
 */
export async function safeJoin(root: string, relative: string): Promise<string> {
  const reason = unsafeFilePathReason(relative);
  if (reason !== undefined) throw unsafePath(relative, reason);
  const realRoot = await realpath(root);
  let path = realRoot;
  for (const part of relative.split('/')) {
    path = join(path, part);
    if (await isLink(path)) {
      path = await realpath(path).catch(() => {
        throw unsafePath(relative, 'it goes through a link that leads nowhere');
      });
      if (!isInside(realRoot, path)) throw unsafePath(relative, 'it goes through a link that leads outside');
    }
  }
  return path;
}

function isInside(root: string, path: string): boolean {
  return path.startsWith(root.endsWith(sep) ? root : root + sep);
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}

/** Whether the error says that there is no file at the path. */
export function isAbsence(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR';
}
