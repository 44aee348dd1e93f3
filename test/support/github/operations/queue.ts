import { ApiError } from '../api-error.ts';
import { mergeCommits } from '../git/merge.ts';
import { mergedFiles } from '../rules/mergeability.ts';
import { canWrite, mergeQueueOf, requiredChecksOfGroup, violations } from '../rules/requirements.ts';
import type { State } from '../state.ts';
import { viewHeadCommit } from '../views/commit.ts';
import type { Account, MergeQueueRule, PullRequest, QueueEntry, Repository } from '../world.ts';
import { deleteBranch, moveBranch } from './branches.ts';
import { emit } from './emit.ts';
import { announceIssue, setIssueState } from './issues.ts';
import { markMerged, writeMerge } from './merge.ts';

/** Why a pull request left the queue. */
type Removal = 'MANUAL' | 'MERGE' | 'MERGE_CONFLICT' | 'CI_FAILURE' | 'CI_TIMEOUT' | 'QUEUE_CLEARED';

export function entryOf({ repository, pull }: PullRequest): QueueEntry | undefined {
  return repository.queues.get(pull.base.ref)?.find(({ pr }) => pr.pull === pull);
}

/**
 * Adds a pull request to the end of its base branch's queue; its head must satisfy what the branch requires.
 * https://docs.github.com/en/graphql/reference/mutations#enqueuepullrequest
 */
export function enqueue(
  state: State,
  pr: PullRequest,
  by: Account,
  options: { expectedHeadOid?: string | undefined; jump?: boolean | undefined } = {},
): QueueEntry {
  const { repository, pull } = pr;
  const branch = pull.base.ref;
  // An app has no role: its permissions decide, and the API has already checked them.
  if (by.type === 'User' && !canWrite(state, repository, by))
    throw new ApiError(
      403,
      `${by.login} does not have the correct permissions to execute \`EnqueuePullRequest\``,
    );
  if (options.expectedHeadOid !== undefined && options.expectedHeadOid !== pull.head.sha)
    throw new ApiError(
      422,
      `Failed to add PR #${pr.number}: expected head oid does not match the current head oid`,
    );
  if (entryOf(pr)) throw new ApiError(422, 'Pull request is already queued');
  if (!mergeQueueOf(state, repository, branch))
    throw new ApiError(422, 'Pull request base branch does not require a merge queue');
  if (pr.state === 'closed' || !mergedFiles(pr)) throw new ApiError(422, 'Pull Request is not mergeable');
  if (pull.draft) throw new ApiError(422, 'Pull Request is still a draft');
  const [unmet] = violations(state, pr);
  if (unmet) throw new ApiError(422, `Pull request ${unmet.sentence}`);

  const entry: QueueEntry = {
    id: state.nextId('queueEntry'),
    pr,
    by,
    headSha: pull.head.sha,
    enqueuedAt: state.now(),
    group: undefined,
  };
  const queue = repository.queues.get(branch) ?? [];
  if (options.jump) queue.unshift(entry);
  else queue.push(entry);
  repository.queues.set(branch, queue);
  state.queueing.add(repository);
  announceIssue(state, pr, by, 'enqueued');
  return entry;
}

/** https://docs.github.com/en/graphql/reference/mutations#dequeuepullrequest */
export function dequeue(state: State, pr: PullRequest, by: Account): QueueEntry {
  const entry = entryOf(pr);
  if (!entry) throw new ApiError(422, 'Pull request is not queued');
  remove(state, entry, 'MANUAL', by);
  return entry;
}

/** Takes one step in one queue. @returns whether there was one to take. */
export function advanceQueues(state: State): boolean {
  for (const repository of state.queueing) {
    for (const [branch, queue] of repository.queues) {
      if (queue.length === 0) repository.queues.delete(branch);
      else if (step(state, repository, branch, queue)) return true;
    }
    if (repository.queues.size === 0) state.queueing.delete(repository);
  }
  return false;
}

function step(state: State, repository: Repository, branch: string, queue: readonly QueueEntry[]): boolean {
  const rule = mergeQueueOf(state, repository, branch);
  const [first] = queue;
  if (!rule) {
    if (first) remove(state, first, 'QUEUE_CLEARED');
    return first !== undefined;
  }
  // A push to the head, or a person who closes the pull request, removes it from the queue.
  const stale = queue.find(({ pr, headSha }) => pr.state === 'closed' || pr.pull.head.sha !== headSha);
  if (stale) {
    remove(state, stale, 'MANUAL');
    return true;
  }
  return build(state, repository, branch, queue, rule) || decide(state, repository, branch, queue, rule);
}

/** Creates the group of the first entry without one, on top of the entries before it. */
function build(
  state: State,
  repository: Repository,
  branch: string,
  queue: readonly QueueEntry[],
  rule: MergeQueueRule,
): boolean {
  let parent = repository.branches.get(branch);
  for (const entry of queue.slice(0, rule.maxEntriesToBuild)) {
    if (parent === undefined) return false;
    if (entry.group?.baseSha === parent) {
      parent = entry.group.headSha;
      continue;
    }
    destroyGroup(state, entry, 'invalidated');
    const files = mergeCommits(repository.git, parent, entry.headSha);
    if (!files) {
      remove(state, entry, 'MERGE_CONFLICT');
      return true;
    }
    const { by, pr } = entry;
    const headSha = writeMerge(state, pr, parent, files, { by, method: rule.method });
    const name = `gh-readonly-queue/${branch}/pr-${pr.number}-${parent}`;
    entry.group = { branch: name, headSha, baseSha: parent, since: state.now() };
    moveBranch(state, repository, name, headSha, queueBot(state));
    announceGroup(state, entry, 'checks_requested');
    return true;
  }
  return false;
}

/** Merges what is green at the front of the queue, or removes what failed. */
function decide(
  state: State,
  repository: Repository,
  branch: string,
  queue: readonly QueueEntry[],
  rule: MergeQueueRule,
): boolean {
  const built = queue.flatMap((entry) => {
    if (!entry.group) return [];
    const late =
      state.now().getTime() - entry.group.since.getTime() >= rule.checkResponseTimeoutMinutes * 60_000;
    const standing = requiredChecksOfGroup(repository, branch, entry.group.headSha);
    return [{ entry, standing: standing === 'waiting' && late ? ('late' as const) : standing }];
  });
  const green =
    rule.groupingStrategy === 'HEADGREEN'
      ? built.findLastIndex(({ standing }) => standing === 'green') + 1
      : built[0]?.standing === 'green'
        ? 1
        : 0;
  if (green > 0) {
    merge(state, repository, branch, queue.slice(0, green), rule);
    return true;
  }
  const failed = built.find(({ standing }, index) => {
    if (standing !== 'failing' && standing !== 'late') return false;
    // If only the last group counts, a later one may still include one that failed.
    const mayBeCarried = built.slice(index + 1).some((later) => later.standing === 'waiting');
    return rule.groupingStrategy === 'ALLGREEN' || !mayBeCarried;
  });
  if (failed) remove(state, failed.entry, failed.standing === 'late' ? 'CI_TIMEOUT' : 'CI_FAILURE');
  return failed !== undefined;
}

function merge(
  state: State,
  repository: Repository,
  branch: string,
  entries: readonly QueueEntry[],
  { method }: MergeQueueRule,
): void {
  const landed = entries.flatMap((entry) => (entry.group ? [{ entry, sha: entry.group.headSha }] : []));
  for (const { entry, sha } of landed)
    markMerged(state, entry.pr, { by: entry.by, method, sha, via: 'queue' });
  const last = landed.at(-1);
  if (last) moveBranch(state, repository, branch, last.sha, queueBot(state));
  for (const { entry } of landed) {
    remove(state, entry, 'MERGE');
    setIssueState(state, entry.pr, entry.by, 'closed');
  }
}

function remove(state: State, entry: QueueEntry, reason: Removal, by: Account = queueBot(state)): void {
  const { repository } = entry.pr;
  for (const [branch, queue] of repository.queues)
    repository.queues.set(
      branch,
      queue.filter((one) => one !== entry),
    );
  announceIssue(state, entry.pr, by, 'dequeued', { reason });
  destroyGroup(state, entry, reason === 'MERGE' ? 'merged' : 'dequeued');
}

function destroyGroup(state: State, entry: QueueEntry, reason: 'merged' | 'invalidated' | 'dequeued'): void {
  if (!entry.group) return;
  announceGroup(state, entry, 'destroyed', { reason });
  deleteBranch(state, entry.pr.repository, entry.group.branch, queueBot(state));
  entry.group = undefined;
}

/** https://docs.github.com/en/webhooks/webhook-events-and-payloads#merge_group */
function announceGroup(
  state: State,
  { pr, group }: QueueEntry,
  action: 'checks_requested' | 'destroyed',
  extra: object = {},
): void {
  if (!group) return;
  const { repository, pull } = pr;
  emit(state, { repository, sender: queueBot(state) }, 'merge_group', {
    action,
    ...extra,
    merge_group: {
      head_sha: group.headSha,
      head_ref: `refs/heads/${group.branch}`,
      base_sha: group.baseSha,
      base_ref: `refs/heads/${pull.base.ref}`,
      head_commit: viewHeadCommit(repository.git.commitAt(group.headSha)),
    },
  });
}

function queueBot(state: State): Account {
  return state.account('github-merge-queue[bot]', 'Bot');
}
