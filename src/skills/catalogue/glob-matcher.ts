import { compileGlob } from '../../core/glob.ts';

/** More paths are not looked at, nor are long ones: a skill is for a kind of files, and these show which kinds there are. */
export const MAX_PATHS = 100;
export const MAX_PATH_LENGTH = 200;

/** Those that are looked at. */
export function pathsLookedAt(paths: readonly string[]): string[] {
  return paths.filter(({ length }) => length <= MAX_PATH_LENGTH).slice(0, MAX_PATHS);
}

/** Tells of a glob whether one of the paths matches it. Skills share many globs, so each is asked of the paths once. */
export function somePathMatcher(paths: readonly string[]): (glob: string) => boolean {
  const some = pathsLookedAt(paths);
  const known = new Map<string, boolean>();
  return (glob) => {
    const before = known.get(glob);
    if (before !== undefined) return before;
    // Most globs match nothing, and a look for their longest plain part says so in no time.
    const part = longestPlainPart(glob);
    const maybe = some.filter((path) => path.includes(part));
    const answer = maybe.length > 0 && maybe.some(compileGlob(glob));
    known.set(glob, answer);
    return answer;
  };
}

/** What every match holds as it is. A `**` and its slash may stand for nothing, so the slash is not part of it. */
function longestPlainPart(glob: string): string {
  const parts = glob.split(/\*{2,}\/?|[*?]/);
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), '');
}
