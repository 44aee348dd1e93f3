import { CountersignError } from '../../core/errors.ts';
import { unsafeFilePathReason } from '../../core/path.ts';

/** A folder for the store's own files. Blobs cannot be in it. */
export const OWN_FOLDER = '.countersign';

/**
 * All stores refuse the same paths, so that blobs can be moved between stores.
 * @throws CountersignError `blobs.unsafe_path` if the path is not relative and plain, or is in the store's
 * own folder
 */
export function expectBlobPath(path: string): void {
  const reason = blobPathReason(path);
  if (reason !== undefined) throw unsafePath(path, reason);
}

export function isBlobPath(path: string): boolean {
  return blobPathReason(path) === undefined;
}

function blobPathReason(path: string): string | undefined {
  // Some file systems ignore case.
  const isReserved = path.split('/')[0]?.toLowerCase() === OWN_FOLDER;
  return (
    unsafeFilePathReason(path) ?? (isReserved ? `the folder ${OWN_FOLDER} is the store’s own` : undefined)
  );
}

export function unsafePath(path: string, reason: string): CountersignError {
  return new CountersignError(
    'blobs.unsafe_path',
    `The path ${JSON.stringify(path)} cannot name a blob: ${reason}.`,
  );
}
