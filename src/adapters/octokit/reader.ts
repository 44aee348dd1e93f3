import { z } from 'zod';
import { AnswerTooLarge } from '../../core/bounded-fetch.ts';
import type { RepositoryRole } from '../../domain/policy/role.ts';
import {
  GitHubError,
  type GitHubReader,
  type ListedPullRequest,
  type OpenPullRequest,
  type OwnIssue,
  type OwnReviewComment,
  type Repo,
  type TreeEntry,
} from '../../ports/github.ts';
import { collaboratorsSchema, membershipSchema, peopleSchema, permissionSchema } from './account.ts';
import {
  blobSchema,
  branchSchema,
  commentSchema,
  commitsSchema,
  fileSchema,
  filesSchema,
  folderSchema,
  installedRepositoriesSchema,
  issueStateSchema,
  issuesSchema,
  listedPullRequestsSchema,
  milestonesSchema,
  openPullRequestsSchema,
  pullRequestSchema,
  pushesSchema,
  reactionsSchema,
  repositorySchema,
  reviewCommentsSchema,
  reviewsSchema,
  reviewTextsSchema,
  threadCommentsSchema,
  treeSchema,
} from './answers.ts';
import { readCommit } from './backport.ts';
import {
  checkRunsSchema,
  checkSuitesSchema,
  createdStatusesSchema,
  workflowArtifactsSchema,
  workflowJobsSchema,
  workflowRunSchema,
} from './check-answers.ts';
import type { Client } from './client.ts';
import { readCredits } from './credits.ts';
import { isAbsent, RequestFailure } from './failure.ts';
import { readMergeQueue, readQueued } from './merge-queue.ts';
import { ownOf, readOwnAccount } from './own.ts';
import { readPolledComments } from './polled-comments.ts';
import { prefetch, type Shared } from './prefetch.ts';
import { readRequiredChecks, readRuleTypes } from './required-checks.ts';
import { openThreads } from './review-threads.ts';

/** How everything begins that this app wants to find again. */
const MARKER = '<!-- countersign:';

/** GitHub's own limits: https://docs.github.com/en/rest/pulls/pulls */
const MAX_FILES = 3_000;
const MAX_COMMITS = 250;
/** Ours: GitHub has no limit, and everybody who can read a repository can write reviews. */
const MAX_REVIEWS = 1_000;
/** Ours: one page. */
const MAX_HISTORY = 100;
/** Ours: those of a head are among the newest. */
const MAX_ARTIFACTS = 300;
/** Ours: nobody notifies that many people. */
const MAX_COLLABORATORS = 1_000;
const MAX_MEMBERS = 300;
const MAX_MILESTONES = 300;
/** Ours: four requests, and more than anybody reads. */
const MAX_UNCHANGED = 300;
/** The contents API stops there without an error. */
const MAX_FOLDER_ENTRIES = 1_000;

/**
 * Reads repositories and pull requests. A list of files or commits that reaches GitHub's limit counts as
 * truncated, because GitHub does not say whether it is.
 */
export function createReader(client: Client, shared: Shared): GitHubReader {
  const permission = async (repo: Repo, login: string) => {
    const route = 'GET /repos/{owner}/{repo}/collaborators/{username}/permission';
    const found = await ifExists(client.request(route, { ...at(repo), username: login }, permissionSchema));
    return found && { person: found.user, role: roleOf(found.permission, found.role_name ?? undefined) };
  };

  return {
    repository: (repo) => client.request('GET /repos/{owner}/{repo}', at(repo), repositorySchema),

    pullRequest: (repo, number) =>
      client.request(
        'GET /repos/{owner}/{repo}/pulls/{pull_number}',
        { ...at(repo), pull_number: number },
        pullRequestSchema,
      ),

    async pullRequestFiles(repo, number) {
      const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/files';
      const files = await client.list(route, { ...at(repo), pull_number: number }, filesSchema, MAX_FILES);
      return { files, truncated: files.length >= MAX_FILES };
    },

    async pullRequestCommits(repo, number) {
      const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/commits';
      const commits = await client.list(
        route,
        { ...at(repo), pull_number: number },
        commitsSchema,
        MAX_COMMITS,
      );
      return { commits, truncated: commits.length >= MAX_COMMITS };
    },

    pushes: (repo, branch) =>
      client.request(
        'GET /repos/{owner}/{repo}/activity',
        { ...at(repo), ref: `refs/heads/${branch}`, per_page: 100 },
        pushesSchema,
      ),

    commitCredits: (repo, number) => readCredits(client, repo, number),

    async pullRequestReviews(repo, number) {
      const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews';
      const parameters = { ...at(repo), pull_number: number };
      const reviews = await client.list(route, parameters, reviewsSchema, MAX_REVIEWS);
      return { reviews, truncated: reviews.length >= MAX_REVIEWS };
    },

    blob: (repo, sha, maxBytes) => readBlob(client, repo, sha, maxBytes),

    async folder(repo, path, ref) {
      const route = 'GET /repos/{owner}/{repo}/contents/{path}';
      const parameters = { ...at(repo), path, ...(ref !== undefined && { ref }) };
      const entries = await ifExists(client.request(route, parameters, folderSchema));
      if (entries && entries.length >= MAX_FOLDER_ENTRIES) throw incomplete(route);
      return entries;
    },

    file: (repo, path, ref) =>
      ifExists(
        client.request('GET /repos/{owner}/{repo}/contents/{path}', { ...at(repo), path, ref }, fileSchema),
      ),

    tree: (repo, ref) => readTree(client, repo, ref),

    commit: (repo, sha) => readCommit(client, repo, sha),

    async branchTip(repo, branch) {
      const route = 'GET /repos/{owner}/{repo}/branches/{branch}';
      const found = await ifExists(client.request(route, { ...at(repo), branch }, branchSchema));
      // For a renamed branch, GitHub redirects to its new name, which is a different branch for this app.
      return found?.name === branch ? found.commit.sha : undefined;
    },

    history: (repo, path, ref) =>
      client.list(
        'GET /repos/{owner}/{repo}/commits',
        { ...at(repo), sha: ref, ...(path !== undefined && { path }) },
        commitsSchema,
        MAX_HISTORY,
      ),

    checkRuns: (repo, sha) =>
      client.list(
        'GET /repos/{owner}/{repo}/commits/{ref}/check-runs',
        { ...at(repo), ref: sha, filter: 'latest' },
        checkRunsSchema,
      ),

    checkSuites: (repo, sha, appId) =>
      client.list(
        'GET /repos/{owner}/{repo}/commits/{ref}/check-suites',
        { ...at(repo), ref: sha, app_id: appId },
        checkSuitesSchema,
      ),

    async statuses(repo, sha) {
      const route = 'GET /repos/{owner}/{repo}/commits/{ref}/statuses';
      const all = await client.list(route, { ...at(repo), ref: sha }, createdStatusesSchema);
      // The newest of a context counts; upper and lower case are the same to GitHub.
      const newest = new Map<string, (typeof all)[number]>();
      for (const status of all) {
        const context = status.context.toLowerCase();
        if (!newest.has(context)) newest.set(context, status);
      }
      const counted = [...newest.values()];
      const own = counted.some(({ creator }) => creator?.type === 'Bot') && (await readOwnAccount(client));
      return counted.map(({ creator, ...status }) => ({ ...status, isOwn: creator?.id === own }));
    },

    workflowJobs: (repo, runId) =>
      client.list(
        'GET /repos/{owner}/{repo}/actions/runs/{run_id}/jobs',
        { ...at(repo), run_id: runId, filter: 'latest' },
        workflowJobsSchema,
      ),

    async workflowArtifacts(repo, name) {
      const route = 'GET /repos/{owner}/{repo}/actions/artifacts';
      const found = await client.list(route, { ...at(repo), name }, workflowArtifactsSchema, MAX_ARTIFACTS);
      return found.flat().filter((artifact) => artifact.name === name);
    },

    workflowRun: (repo, runId) =>
      client.request(
        'GET /repos/{owner}/{repo}/actions/runs/{run_id}',
        { ...at(repo), run_id: runId },
        workflowRunSchema,
      ),

    artifactsOfRun: (repo, runId) =>
      client
        .request(
          'GET /repos/{owner}/{repo}/actions/runs/{run_id}/artifacts',
          { ...at(repo), run_id: runId, per_page: 100 },
          workflowArtifactsSchema,
        )
        .then((found) => found.flat()),

    workflowArchive: (repo, id, maxBytes) =>
      ifExists(
        client.archive(
          'GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}',
          { ...at(repo), artifact_id: id, archive_format: 'zip' },
          maxBytes,
        ),
      ),

    mergeQueue: (repo, branch) => readMergeQueue(client, repo, branch),
    queued: (repo, number) => readQueued(client, repo, number),
    requiredChecks: (repo, branch) => readRequiredChecks(client, { ...at(repo), branch }),

    branchRules: (repo, branch) => readRuleTypes(client, { ...at(repo), branch }),

    comment: (repo, id) =>
      ifExists(
        client.request(
          'GET /repos/{owner}/{repo}/issues/comments/{comment_id}',
          { ...at(repo), comment_id: id },
          commentSchema,
        ),
      ),

    reactions: (repo, commentId) =>
      client.list(
        'GET /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions',
        { ...at(repo), comment_id: commentId },
        reactionsSchema,
      ),

    polledComments: (nodeIds) => readPolledComments(client, nodeIds),

    async role(repo, login) {
      return (await permission(repo, login))?.role ?? 'none';
    },

    async collaborator(repo, login) {
      const found = await permission(repo, login);
      return found?.person ? { person: found.person, role: found.role } : undefined;
    },

    async isTeamMember(organisation, team, login) {
      const route = 'GET /orgs/{org}/teams/{team_slug}/memberships/{username}';
      const parameters = { org: organisation, team_slug: team, username: login };
      const found = await ifExists(client.request(route, parameters, membershipSchema));
      return found?.state === 'active';
    },

    async writers(repo) {
      const found = await client.list(
        'GET /repos/{owner}/{repo}/collaborators',
        { ...at(repo), permission: 'push' },
        collaboratorsSchema,
        MAX_COLLABORATORS,
      );
      return {
        collaborators: found.map(({ person, permission, roleName }) => ({
          person,
          role: roleOf(permission, roleName),
        })),
        truncated: found.length >= MAX_COLLABORATORS,
      };
    },

    // https://docs.github.com/en/rest/teams/members#list-team-members: "the team must be visible"
    async teamMembers(organisation, team) {
      const route = 'GET /orgs/{org}/teams/{team_slug}/members';
      const parameters = { org: organisation, team_slug: team };
      const people = await ifShown(client.list(route, parameters, peopleSchema, MAX_MEMBERS));
      return people && { people, truncated: people.length >= MAX_MEMBERS };
    },

    // https://docs.github.com/en/rest/issues/assignees#check-if-a-user-can-be-assigned: 204 or 404
    async isAssignable(repo, login) {
      const route = 'GET /repos/{owner}/{repo}/assignees/{assignee}';
      try {
        await client.request(route, { ...at(repo), assignee: login }, z.unknown());
        return true;
      } catch (error) {
        if (isAbsent(error)) return false;
        throw error;
      }
    },

    openMilestones: (repo) =>
      client.list(
        'GET /repos/{owner}/{repo}/milestones',
        { ...at(repo), state: 'open' },
        milestonesSchema,
        MAX_MILESTONES,
      ),

    issue: (repo, number) =>
      client.request(
        'GET /repos/{owner}/{repo}/issues/{issue_number}',
        { ...at(repo), issue_number: number },
        issueStateSchema,
      ),

    async ownIssues(repo, label) {
      const issues = client.entries(
        'GET /repos/{owner}/{repo}/issues',
        { ...at(repo), state: 'all', labels: label },
        issuesSchema,
      );
      const own: OwnIssue[] = [];
      try {
        for await (const issue of ownOf(client, shared.ownAppId, issues, MARKER)) {
          const { number, body, closedAt, reason, isPullRequest } = issue;
          if (!isPullRequest) own.push({ number, body, closedAt, reason });
        }
      } catch (error) {
        // 410: the repository has switched its issues off. https://docs.github.com/en/rest/issues/issues
        if (isAbsent(error)) return undefined;
        throw error;
      }
      return own;
    },

    async ownReviewTexts(repo, number) {
      const of = { ...at(repo), pull_number: number };
      const reviews = client.entries(
        'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews',
        of,
        reviewTextsSchema,
      );
      const texts: string[] = [];
      for await (const { body } of ownOf(client, shared.ownAppId, reviews, MARKER)) texts.push(body);
      const entries = client.entries(
        'GET /repos/{owner}/{repo}/pulls/{pull_number}/comments',
        of,
        reviewCommentsSchema,
      );
      const comments: OwnReviewComment[] = [];
      for await (const { id, path, body } of ownOf(client, shared.ownAppId, entries, MARKER))
        comments.push({ id, path, body });
      return { reviews: texts, comments };
    },

    openThreads: (repo, number) => openThreads(client, repo, number),

    async ownThread(repo, number, first) {
      const entries = client.entries(
        'GET /repos/{owner}/{repo}/pulls/{pull_number}/comments',
        { ...at(repo), pull_number: number },
        threadCommentsSchema,
      );
      const found = [];
      for await (const comment of entries) if (comment.thread === first) found.push(comment);
      const [begin, ...others] = found.toSorted((a, b) => a.id - b.id);
      if (begin?.id !== first) return undefined;
      const own = await ownOf(client, shared.ownAppId, only(begin), MARKER).next();
      if (own.done) return undefined;
      return {
        path: begin.path,
        line: begin.line,
        hunk: begin.hunk,
        commitSha: begin.commitSha,
        comments: [begin, ...others].map(({ id, author, body }) => ({ id, login: author.login, body })),
      };
    },

    repositories: () => client.list('GET /installation/repositories', {}, installedRepositoriesSchema),

    async pullRequestsChangedAfter(repo, moment) {
      const changed: ListedPullRequest[] = [];
      const newestFirst = client.entries(
        'GET /repos/{owner}/{repo}/pulls',
        { ...at(repo), state: 'all', sort: 'updated', direction: 'desc' },
        listedPullRequestsSchema,
      );
      for await (const pull of newestFirst) {
        if (pull.updatedAt <= moment) break;
        changed.push(pull);
      }
      return changed.reverse();
    },

    // https://docs.github.com/en/rest/pulls/pulls#list-pull-requests: `sort`, `direction`. Unlike the newest first, these pages
    // rarely change, so GitHub mostly answers 304.
    async pullRequestsUnchangedSince(repo, moment) {
      const oldestFirst = client.entries(
        'GET /repos/{owner}/{repo}/pulls',
        { ...at(repo), state: 'open', sort: 'updated', direction: 'asc' },
        openPullRequestsSchema,
      );
      const pullRequests: OpenPullRequest[] = [];
      for await (const pull of oldestFirst) {
        if (pull.updatedAt > moment) break;
        if (pullRequests.length === MAX_UNCHANGED) return { pullRequests, truncated: true };
        pullRequests.push(pull);
      }
      return { pullRequests, truncated: false };
    },

    async newestPullRequests(repo, count) {
      const newestFirst = client.entries(
        'GET /repos/{owner}/{repo}/pulls',
        { ...at(repo), state: 'all', sort: 'created', direction: 'desc' },
        listedPullRequestsSchema,
      );
      const numbers: number[] = [];
      for await (const { number } of newestFirst) {
        if (numbers.length === count) break;
        numbers.push(number);
      }
      return numbers;
    },

    prefetched: (repo, number, about) => prefetch(client, shared, repo, number, about),
  };
}

export function at(repo: Repo): { owner: string; repo: string } {
  return { owner: repo.owner, repo: repo.name };
}

/** The response, or `undefined` if GitHub says that the thing does not exist. Rethrows other failures. */
async function ifExists<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** The same for what GitHub does not let this app see. */
async function ifShown<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await ifExists(answer);
  } catch (error) {
    if (error instanceof GitHubError && error.kind === 'forbidden') return undefined;
    throw error;
  }
}

async function readTree(client: Client, repo: Repo, ref: string): Promise<TreeEntry[] | undefined> {
  const route = 'GET /repos/{owner}/{repo}/git/trees/{tree_sha}';
  const parameters = { ...at(repo), tree_sha: ref, recursive: 'true' };
  const found = await ifExists(client.request(route, parameters, treeSchema));
  if (found?.truncated) throw incomplete(route);
  return found?.tree
    .filter((entry) => entry.type === 'blob')
    .map(({ path, mode, sha, size = 0 }) => ({
      path,
      // A symbolic link is a blob, too, but contains a path and not a file of the project.
      type: mode === '120000' ? 'other' : 'file',
      sha,
      size,
    }));
}

/**
 * GitHub gives a blob's size only together with its content, so the response is cut off once it must be too
 * large: base64 takes four bytes for three, and GitHub adds line breaks.
 */
async function readBlob(
  client: Client,
  repo: Repo,
  sha: string,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const route = 'GET /repos/{owner}/{repo}/git/blobs/{file_sha}';
  try {
    const blob = await client.request(route, { ...at(repo), file_sha: sha }, blobSchema, {
      maxBytes: Math.ceil(maxBytes * 1.4) + 4_096,
    });
    if (blob.size > maxBytes) return undefined;
    const bytes = Buffer.from(blob.content, 'base64');
    if (bytes.byteLength === blob.size) return bytes;
    throw new GitHubError('unavailable', 200, `${route}: the content is not as long as GitHub says it is.`);
  } catch (error) {
    if (error instanceof RequestFailure && error.cause instanceof AnswerTooLarge) return undefined;
    throw error;
  }
}

/** The five roles that GitHub ships, and the `permission` that each maps to. */
const PERMISSION_OF: Readonly<Record<string, string>> = {
  admin: 'admin',
  maintain: 'write',
  write: 'write',
  triage: 'read',
  read: 'read',
  none: 'none',
};

/**
 * A custom role of an organisation, or one that contradicts the permission, counts as the permission alone.
 */
function roleOf(permission: string, roleName: string | undefined): RepositoryRole {
  const isRole = (name: string | undefined): name is RepositoryRole =>
    name !== undefined && Object.hasOwn(PERMISSION_OF, name);
  if (isRole(roleName) && PERMISSION_OF[roleName] === permission) return roleName;
  return isRole(permission) ? permission : 'none';
}

function incomplete(route: string): GitHubError {
  return new GitHubError(
    'invalid',
    200,
    `${route}: there are more entries than GitHub lists; that is not read.`,
  );
}

async function* only<T>(one: T): AsyncGenerator<T> {
  yield one;
}
