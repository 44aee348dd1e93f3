import { unreachable } from '../../core/errors.ts';
import { criterion, type Explanation } from '../explanation/explanation.ts';

/**
 * What GitHub says of a merge that it has tried out. `null` while its background job is at work, or from a server without the field:
 * https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request
 */
export interface Mergeability {
  mergeable: boolean | null;
  rebaseable: boolean | null;
  /** `dirty` is a conflict: https://docs.github.com/en/graphql/reference/enums#mergestatestatus */
  mergeableState: string | null;
}

export type Conflict =
  | { kind: 'none' }
  /** GitHub is working it out: to be asked again, and no answer. */
  | { kind: 'unknown' }
  /** `says` reads on after "not merging:". */
  | { kind: 'conflict'; says: string };

/** Whether the pull request conflicts with its base branch, for the way in which it is to be merged. */
export function conflictOf(
  { mergeable, rebaseable, mergeableState }: Mergeability,
  method: 'merge' | 'squash' | 'rebase',
  baseRef: string,
): Conflict {
  if (mergeable === false || mergeableState === 'dirty')
    return { kind: 'conflict', says: `conflicts with ${baseRef}: resolve them by merging or rebasing` };
  if (mergeable === null) return { kind: 'unknown' };
  if (method === 'rebase' && rebaseable === false)
    return {
      kind: 'conflict',
      says: `GitHub cannot rebase it onto ${baseRef}: rebase it by hand, or merge it by another method`,
    };
  return { kind: 'none' };
}

/**
 * What a look at an open question makes of it: a conflict holds the merge up. While GitHub works it out, what it said last goes on to
 * hold; where it has said nothing yet, nothing does, since GitHub itself refuses to merge a conflict.
 * @param conflicted whether it said last that there is one
 */
export function conflictCriteria(conflict: Conflict, conflicted: boolean, baseRef: string): Explanation[] {
  switch (conflict.kind) {
    case 'none':
      return [];
    case 'conflict':
      return [criterion('unmet', conflict.says)];
    case 'unknown':
      return conflicted
        ? [criterion('pending', `GitHub is working out whether it still conflicts with ${baseRef}`)]
        : [];
    default:
      return unreachable(conflict);
  }
}
