import { ancestorsOf, mergeBase } from '../git/history.ts';
import { mergeCommits } from '../git/merge.ts';
import type { FileEntry } from '../git/objects.ts';
import type { State } from '../state.ts';
import type { PullRequest } from '../world.ts';
import { checkRunsOf, isGreen, latestStatuses } from './checks.ts';
import { isBehind, rulesetsOf, violations } from './requirements.ts';

export interface Mergeability {
  mergeable: boolean | null;
  rebaseable: boolean | null;
  mergeable_state: 'unknown' | 'draft' | 'dirty' | 'behind' | 'blocked' | 'unstable' | 'clean';
}

export const UNKNOWN: Mergeability = { mergeable: null, rebaseable: null, mergeable_state: 'unknown' };

/** Tip of the branch that the pull request goes into; `undefined` if it was deleted. */
export function baseTip(pr: PullRequest): string | undefined {
  return pr.repository.branches.get(pr.pull.base.ref);
}

/** The commit from which the pull request's changes count: where it diverged from its base branch. */
export function forkPoint(pr: PullRequest): string {
  if (pr.pull.merged) return pr.pull.merged.mergeBase;
  const tip = baseTip(pr) ?? pr.pull.base.sha;
  return mergeBase(pr.repository.git, tip, pr.pull.head.sha) ?? pr.pull.base.sha;
}

/** The files that a merge would result in now; `undefined` on a conflict. */
export function mergedFiles(pr: PullRequest): ReadonlyMap<string, FileEntry> | undefined {
  const tip = baseTip(pr);
  return tip === undefined ? undefined : mergeCommits(pr.repository.git, tip, pr.pull.head.sha);
}

/** Whether the pull request can be merged, computed now from branches, checks and statuses. */
export function mergeability(state: State, pr: PullRequest): Mergeability {
  if (pr.state === 'closed') return UNKNOWN;
  const files = mergedFiles(pr);
  if (!files) return { mergeable: false, rebaseable: false, mergeable_state: 'dirty' };
  const tip = baseTip(pr);
  const rebaseable = tip !== undefined && !ancestorsOf(pr.repository.git, tip).has(pr.pull.head.sha);
  return { mergeable: true, rebaseable, mergeable_state: stateOf(state, pr) };
}

/** https://docs.github.com/en/graphql/reference/enums#mergestatestatus */
function stateOf(state: State, pr: PullRequest): Mergeability['mergeable_state'] {
  const { repository } = pr;
  const { sha } = pr.pull.head;
  if (pr.pull.draft) return 'draft';
  const unmet = violations(state, pr);
  if (unmet.length > 0) return isStrict(pr) && isBehind(pr) && unmet.length === 1 ? 'behind' : 'blocked';
  const red =
    checkRunsOf(repository, sha, 'latest').some((run) => !isGreen(run.conclusion)) ||
    latestStatuses(repository, sha).some((status) => status.state !== 'success');
  return red ? 'unstable' : 'clean';
}

function isStrict({ repository, pull }: PullRequest): boolean {
  const protection = repository.protections.get(pull.base.ref);
  return protection?.strict === true || rulesetsOf(repository, pull.base.ref).some(({ strict }) => strict);
}
