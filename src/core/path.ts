/**
 * Why a path from a pull request cannot be a repository-relative file path, or `undefined` when it can.
 * Git itself allows almost any byte; what is refused here is what could leave a folder or break a line of text.
 */
export function unsafePathReason(path: string): string | undefined {
  if (path === '') return 'it is empty';
  if (path.length > 4_096) return 'it is longer than 4,096 characters';
  if (path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path)) return 'it is absolute';
  if (path.includes('\0')) return 'it holds a NUL';
  if (path.split('/').some((part) => part === '..' || part === '.' || part === '')) {
    return 'it has an empty, "." or ".." part';
  }
  return undefined;
}

/** In bytes; the limit of all common file systems. */
const LONGEST_NAME = 255;

/** The same for a path on a disk: what a repository may hold and a file system may not, or may read otherwise. */
export function unsafeFilePathReason(path: string): string | undefined {
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
