import { unreachable } from '../../core/errors.ts';
import { criterion, type Explanation } from '../explanation/explanation.ts';

/**
 * GitHub's result of a test merge. `null` while its background job runs, or from a server without the field:
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
  /** GitHub is still computing it. Ask again later. */
  | { kind: 'unknown' }
  /** `says` continues the sentence "not merging:". */
  | { kind: 'conflict'; says: string };

/** Whether the pull request conflicts with its base branch, for the merge method to be used. */
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
 * Why GitHub refused to merge, if it is a conflict, by the pull request as read after the refusal. Its message counts while its test merge
 * is out of date or unknown. "Not mergeable" can mean a conflict and other things, so then the next test merge decides.
 */
export function conflictBehindRefusal(message: string, now: Conflict, baseRef: string): Conflict {
  if (now.kind === 'conflict') return now;
  if (/merge conflict/i.test(message))
    return {
      kind: 'conflict',
      says: `conflicts with ${baseRef}, as GitHub found when it was to be merged: resolve them by merging or rebasing`,
    };
  return now.kind === 'unknown' && /not mergeable/i.test(message) ? now : { kind: 'none' };
}

/**
 * The criteria of a poll about conflicts: a conflict blocks the merge. While GitHub is computing, its last
 * answer stays valid. Without one, there is no criterion, because GitHub itself refuses to merge a conflict.
 * @param conflicted whether its last answer was a conflict
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
