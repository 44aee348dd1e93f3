import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { isBlobPath } from '../blobs/blob-path.ts';
import { TEMPORARY } from './durable.ts';
import { isAbsence } from './safe-join.ts';

/**
 * The paths of all blobs below the root. Skips links, whose targets are either found by their own names or
 * outside, and names that no blob can have, which another program created.
 */
export async function* filesBelow(root: string, folder = ''): AsyncIterable<string> {
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
