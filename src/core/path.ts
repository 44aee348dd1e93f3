/**
 * Why a path from a pull request is not an acceptable repository-relative path, or `undefined` if it is
 * acceptable. Git allows almost any byte. This refuses paths that could leave a folder or break a line of
 * text.
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

/** In bytes, the limit of all common file systems. */
const LONGEST_NAME = 255;

/**
 * Like `unsafePathReason`, for a path that will be written to a disk: also refuses what some file systems
 * reject or interpret differently.
 */
export function unsafeFilePathReason(path: string): string | undefined {
  const unsafe = unsafePathReason(path);
  if (unsafe !== undefined) return unsafe;
  if (path.includes('\\')) return 'it has a backslash';
  // UTF-8 turns each unpaired surrogate into U+FFFD, so two different paths could become one.
  if (!path.isWellFormed()) return 'it is not well-formed Unicode';
  if (path.split('/').some((part) => Buffer.byteLength(part) > LONGEST_NAME)) {
    return `a part of it is longer than ${LONGEST_NAME} bytes`;
  }
  return undefined;
}
