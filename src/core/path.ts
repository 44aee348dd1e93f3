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
