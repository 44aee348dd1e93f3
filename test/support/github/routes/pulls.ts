import { z } from 'zod';
import { ApiError, notFound } from '../api-error.ts';
import { renderDiff } from '../git/changes.ts';
import { ancestorsOf } from '../git/history.ts';
import { mergeCommits } from '../git/merge.ts';
import { recordMerge, stateOfPullRequest } from '../merge-record.ts';
import { moveBranch } from '../operations/branches.ts';
import { mergePullRequest } from '../operations/merge.ts';
import { paginate } from '../pages.ts';
import { json, numberIn, type Reply, type RepositoryCall, type Router } from '../router.ts';
import { viewChange, viewCommit } from '../views/commit.ts';
import { askMergeability, changesOf, commitsOf, viewFullPull, viewPull } from '../views/pull.ts';
import { isPullRequest, type PullRequest } from '../world.ts';
import { pathOf } from './git.ts';
import { parse } from './input.ts';

/** The files API ends after this many; the diff media type refuses beyond these. */
const MOST_FILES = 3_000;
const MOST_DIFF_FILES = 300;
const MOST_DIFF_LINES = 20_000;
const MOST_COMMITS = 250;

const MergeRequest = z.object({
  sha: z.string().optional(),
  commit_title: z.string().optional(),
  commit_message: z.string().optional(),
  merge_method: z.enum(['merge', 'squash', 'rebase']).default('merge'),
});

const UpdateBranch = z.object({ expected_head_sha: z.string().optional() });

/** Pull requests: reading and the merge. */
export function pullRoutes(router: Router): void {
  router.repository('GET', '/pulls', 'pull_requests:read', list);

  router.repository('GET', '/pulls/:number', 'pull_requests:read', (call) => {
    const pr = pullIn(call);
    if (/\.diff\b/.test(call.accept)) return diff(pr);
    call.state.lastReported.set(pr, stateOfPullRequest(pr));
    return json(viewFullPull(call.state, pr, askMergeability(call.state, pr)));
  });

  router.repository('GET', '/pulls/:number/files', 'pull_requests:read', (call) => {
    const pr = pullIn(call);
    const { head } = pr.pull;
    return paginate(call, pullPath(call, '/files'), changesOf(pr).slice(0, MOST_FILES), (change) =>
      viewChange(call.state, head.repository, head.sha, change),
    );
  });

  router.repository('GET', '/pulls/:number/commits', 'pull_requests:read', (call) =>
    paginate(call, pullPath(call, '/commits'), commitsOf(pullIn(call)).slice(0, MOST_COMMITS), (commit) =>
      viewCommit(call.state, call.repository, commit),
    ),
  );

  router.repository('GET', '/pulls/:number/merge', 'pull_requests:read', (call) => {
    if (!pullIn(call).pull.merged) throw notFound();
    return { status: 204 };
  });

  // The sentences of its refusals: https://docs.github.com/en/rest/pulls/pulls#update-a-pull-request-branch names only the status.
  router.repository('PUT', '/pulls/:number/update-branch', 'pull_requests:write', (call) => {
    const { expected_head_sha } = parse(UpdateBranch, call.body);
    const pr = pullIn(call);
    const { head, base } = pr.pull;
    const tip = pr.repository.branches.get(base.ref);
    if (expected_head_sha !== undefined && expected_head_sha !== head.sha)
      throw new ApiError(422, "expected head sha didn't match current head ref.");
    if (head.repository !== pr.repository) throw new ApiError(403, 'Resource not accessible by integration');
    if (tip === undefined) throw new ApiError(422, 'Base branch does not exist');
    const { git } = pr.repository;
    if (ancestorsOf(git, head.sha).has(tip))
      throw new ApiError(422, 'There are no new commits on the base branch.');
    const files = mergeCommits(git, head.sha, tip);
    if (!files) throw new ApiError(422, 'merge conflict between base and head');
    const { bot } = call.state.app;
    const by = call.state.signature(bot);
    const message = `Merge branch '${base.ref}' into ${head.ref}`;
    const commit = git.writeCommit({ parents: [head.sha, tip], message, author: by, committer: by, files });
    moveBranch(call.state, head.repository, head.ref, commit.sha, bot);
    return json({ message: 'Updating pull request branch.', url: '' }, 202);
  });

  router.repository('PUT', '/pulls/:number/merge', 'contents:write', (call) => {
    const input = parse(MergeRequest, call.body);
    const pr = pullIn(call);
    const sha = recordMerge(call.state, pr, input.sha, () =>
      mergePullRequest(call.state, pr, {
        by: call.state.app.bot,
        method: input.merge_method,
        sha: input.sha,
        title: input.commit_title,
        message: input.commit_message,
      }),
    );
    return json({ sha, merged: true, message: 'Pull Request successfully merged' });
  });
}

function list(call: RepositoryCall): Reply {
  const { state, repository, query } = call;
  const wanted = query.get('state') ?? 'open';
  const head = query.get('head');
  const base = query.get('base');
  const updated = query.get('sort') === 'updated';
  const pulls = [...repository.issues.values()]
    .filter(isPullRequest)
    .filter((pr) => wanted === 'all' || pr.state === wanted)
    .filter((pr) => base === null || pr.pull.base.ref === base)
    .filter(({ pull }) => head === null || `${pull.head.repository.owner.login}:${pull.head.ref}` === head)
    .sort((a, b) => (updated ? a.updatedAt.getTime() - b.updatedAt.getTime() : 0) || a.number - b.number);
  const ascending = (query.get('direction') ?? (query.has('sort') ? 'asc' : 'desc')) === 'asc';
  return paginate(call, pathOf(call, '/pulls'), ascending ? pulls : pulls.toReversed(), (pr) =>
    viewPull(state, pr),
  );
}

function diff(pr: PullRequest): Reply {
  const changes = changesOf(pr);
  const lines = changes.reduce((sum, change) => sum + change.additions + change.deletions, 0);
  if (changes.length > MOST_DIFF_FILES || lines > MOST_DIFF_LINES)
    throw new ApiError(406, 'Sorry, the diff exceeded the maximum number of files or lines.', [
      { resource: 'PullRequest', field: 'diff', code: 'too_large' },
    ]);
  return { status: 200, body: renderDiff(changes) };
}

export function pullIn(call: RepositoryCall): PullRequest {
  const issue = call.repository.issues.get(numberIn(call, 'number'));
  if (!issue || !isPullRequest(issue)) throw notFound();
  return issue;
}

export function pullPath(call: RepositoryCall, rest: string): string {
  return pathOf(call, `/pulls/${call.params.number}${rest}`);
}
