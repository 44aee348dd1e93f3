import { CountersignError } from '../../core/errors.ts';
import { unsafeFilePathReason } from '../../core/path.ts';

/** The folder of a store that is the store's own: no blob may lie there. */
export const OWN_FOLDER = '.countersign';

/**
 * The same paths are refused by every store, so that blobs can be moved from one to another.
 * @throws CountersignError `blobs.unsafe_path` when the path is not relative and plain, or is the store's own.
 */
export function expectBlobPath(path: string): void {
  const reason = blobPathReason(path);
  if (reason !== undefined) throw unsafePath(path, reason);
}

export function isBlobPath(path: string): boolean {
  return blobPathReason(path) === undefined;
}

function blobPathReason(path: string): string | undefined {
  // Some file systems do not tell small letters from capital ones.
  const own = path.split('/')[0]?.toLowerCase() === OWN_FOLDER;
  return unsafeFilePathReason(path) ?? (own ? `the folder ${OWN_FOLDER} is the store’s own` : undefined);
}

export function unsafePath(path: string, reason: string): CountersignError {
  return new CountersignError(
    'blobs.unsafe_path',
    `The path ${JSON.stringify(path)} cannot name a blob: ${reason}.`,
  );
}
