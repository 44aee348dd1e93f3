import { CountersignError } from '../core/errors.ts';
import { unsafePathReason } from '../core/path.ts';

/** The folder of a store that is the store's own: no blob may lie there. */
export const OWN_FOLDER = '.countersign';

/** In bytes; the limit of all common file systems. */
const LONGEST_NAME = 255;

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
  return impureReason(path) ?? (own ? `the folder ${OWN_FOLDER} is the store’s own` : undefined);
}

/** Why no store can hold something at this path; a repository may hold what a store must not, or may read otherwise. */
export function impureReason(path: string): string | undefined {
  const unsafe = unsafePathReason(path);
  if (unsafe !== undefined) return unsafe;
  if (path.includes('\\')) return 'it has a backslash';
  // Half a surrogate pair becomes U+FFFD in UTF-8: two paths would be one.
  if (!path.isWellFormed()) return 'it is not well-formed Unicode';
  if (path.split('/').some((part) => Buffer.byteLength(part) > LONGEST_NAME)) {
    return `a part of it is longer than ${LONGEST_NAME} bytes`;
  }
  return undefined;
}

export function unsafePath(path: string, reason: string): CountersignError {
  return new CountersignError(
    'blobs.unsafe_path',
    `The path ${JSON.stringify(path)} cannot name a blob: ${reason}.`,
  );
}
