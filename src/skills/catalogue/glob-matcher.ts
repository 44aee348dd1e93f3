import { compileGlob } from '../../core/glob.ts';

/** Limits on the paths used for matching. A skill is for kinds of files, and these paths show the kinds. */
export const MAX_PATHS = 100;
export const MAX_PATH_LENGTH = 200;

/** The paths within these limits. */
export function consideredPaths(paths: readonly string[]): string[] {
  return paths.filter(({ length }) => length <= MAX_PATH_LENGTH).slice(0, MAX_PATHS);
}

/**
 * Returns a function that says whether any of the paths matches a glob. Skills share many globs, so each is
 * evaluated once.
 */
export function somePathMatcher(paths: readonly string[]): (glob: string) => boolean {
  const some = consideredPaths(paths);
  const known = new Map<string, boolean>();
  return (glob) => {
    const before = known.get(glob);
    if (before !== undefined) return before;
    // Most globs match nothing, and searching for their longest literal part shows that quickly.
    const part = longestPlainPart(glob);
    const maybe = some.filter((path) => path.includes(part));
    const answer = maybe.length > 0 && maybe.some(compileGlob(glob));
    known.set(glob, answer);
    return answer;
  };
}

/**
 * The longest text that every match contains. A `**` with its slash can match nothing, so the slash is not
 * part of it. With alternatives, no part is certain.
 */
function longestPlainPart(glob: string): string {
  if (/[{[\\]/.test(glob)) return '';
  const parts = glob.split(/\*{2,}\/?|[*?]/);
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), '');
}
