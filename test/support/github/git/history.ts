import type { Commit, GitObjects } from './objects.ts';

/** The commit and all its ancestors. */
export function ancestorsOf(git: GitObjects, sha: string): Set<string> {
  const seen = new Set<string>();
  const waiting = [sha];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    waiting.push(...git.commitAt(next).parents);
  }
  return seen;
}

/** The best common ancestor of two commits; `undefined` if their histories share nothing. */
export function mergeBase(git: GitObjects, a: string, b: string): string | undefined {
  const known = ancestorsOf(git, a);
  const candidates: string[] = [];
  const seen = new Set<string>();
  const waiting = [b];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (seen.has(next)) continue;
    seen.add(next);
    if (known.has(next)) candidates.push(next);
    else waiting.push(...git.commitAt(next).parents);
  }
  return candidates.find(
    (candidate) => !candidates.some((other) => other !== candidate && ancestorsOf(git, other).has(candidate)),
  );
}

/** The commits in `head` that are not in `base`, parents before children. */
export function commitsBetween(git: GitObjects, base: string, head: string): Commit[] {
  const known = ancestorsOf(git, base);
  const ordered: Commit[] = [];
  const visit = (sha: string): void => {
    if (known.has(sha)) return;
    known.add(sha);
    const commit = git.commitAt(sha);
    for (const parent of commit.parents) visit(parent);
    ordered.push(commit);
  };
  visit(head);
  return ordered;
}
