import { z } from 'zod';
import { isOwnComment } from '../../domain/policy/own-comment.ts';
import { GitHubError, type GitHubWriter, type Repo } from '../../ports/github.ts';
import { requestedReviewersSchema } from './account.ts';
import {
  anythingSchema,
  commentsSchema,
  createdCheckRunSchema,
  createdCommentSchema,
  createdIssueSchema,
  createdReviewSchema,
  issueStateSchema,
  issuesSchema,
  reviewsSchema,
  reviewTextsSchema,
} from './answers.ts';
import { backport } from './backport.ts';
import { ownCheckRunsSchema, statusesSchema } from './check-answers.ts';
import { checkRunBodies } from './check-run.ts';
import type { Client } from './client.ts';
import { isAbsent, RequestFailure } from './failure.ts';
import { ownOf, readOwnAccount } from './own.ts';
import { at } from './reader.ts';
import { release } from './release.ts';
import { startWorkflow } from './start-workflow.ts';

const READ_ISSUE = 'GET /repos/{owner}/{repo}/issues/{issue_number}';
const REVIEWS = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews';
const UPDATE_ISSUE = 'PATCH /repos/{owner}/{repo}/issues/{issue_number}';
const UPDATE_CHECK_RUN = 'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}';
/** GitHub's clock and ours can differ by this much, in milliseconds. */
const CLOCK_SKEW_MS = 600_000;
/** https://docs.github.com/en/rest/issues/comments */
export const MAX_BODY_LENGTH = 65_536;

/** All writes to GitHub except merging and opening gates. Retries nothing. */
export function createWriter(
  client: Client,
  appId: number,
): Omit<
  GitHubWriter,
  'writeTogether' | 'minimizeComment' | 'resolveThread' | 'merge' | 'passGate' | 'enqueue' | 'dequeue'
> {
  async function updatedText(
    route: string,
    repo: Repo,
    id: number,
    body: string,
  ): Promise<'updated' | 'gone'> {
    refuseLong(body);
    try {
      await client.request(route, { ...at(repo), comment_id: id, body }, anythingSchema);
      return 'updated';
    } catch (error) {
      if (isAbsent(error)) return 'gone';
      throw error;
    }
  }

  return {
    /**
     * If sending further annotations fails, the check run exists, and `findCheckRun` says how many it has.
     */
    async createCheckRun(repo, content) {
      const [first, ...more] = checkRunBodies(content);
      const created = await client.request(
        'POST /repos/{owner}/{repo}/check-runs',
        { ...at(repo), head_sha: content.head_sha, ...first },
        createdCheckRunSchema,
      );
      for (const body of more) {
        const parameters = { ...at(repo), check_run_id: created.id, ...body };
        await client.request(UPDATE_CHECK_RUN, parameters, anythingSchema);
      }
      return created;
    },

    async updateCheckRun(repo, id, content) {
      for (const body of checkRunBodies(content)) {
        await client.request(UPDATE_CHECK_RUN, { ...at(repo), check_run_id: id, ...body }, anythingSchema);
      }
    },

    // With `filter: all`, because a newer run of the same name may exist.
    async findCheckRun(repo, headSha, externalId, after) {
      const runs = client.entries(
        'GET /repos/{owner}/{repo}/commits/{ref}/check-runs',
        { ...at(repo), ref: headSha, app_id: appId, filter: 'all' },
        ownCheckRunsSchema,
      );
      for await (const { appId: by, externalId: of, ...run } of runs) {
        if (by === appId && of === externalId && run.id > after) return run;
      }
      return undefined;
    },

    async createComment(repo, issue, body) {
      refuseLong(body);
      return client.request(
        'POST /repos/{owner}/{repo}/issues/{issue_number}/comments',
        { ...at(repo), issue_number: issue, body },
        createdCommentSchema,
      );
    },

    async updateComment(repo, id, body) {
      return updatedText('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', repo, id, body);
    },

    async findComment(repo, issue, marker) {
      const comments = client.entries(
        'GET /repos/{owner}/{repo}/issues/{issue_number}/comments',
        { ...at(repo), issue_number: issue },
        commentsSchema,
      );
      let accountId: number | undefined;
      for await (const comment of comments) {
        if (comment.author.type !== 'Bot' || !comment.body.includes(marker)) continue;
        // The response that named the account is the one that was lost, so the account is read again, but
        // only if no app is named.
        if (comment.viaAppId === null) accountId ??= await readOwnAccount(client);
        if (isOwnComment(comment, { appId, accountId }))
          return { id: comment.id, authorId: comment.author.id, nodeId: comment.nodeId ?? undefined };
      }
      return undefined;
    },

    async react(repo, commentId, content) {
      await client.request(
        'POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions',
        { ...at(repo), comment_id: commentId, content },
        anythingSchema,
      );
    },

    async label(repo, issue, labels) {
      await client.request(
        'POST /repos/{owner}/{repo}/issues/{issue_number}/labels',
        { ...at(repo), issue_number: issue, labels },
        anythingSchema,
      );
    },

    async createIssue(repo, { title, body, assignees }) {
      refuseLong(body);
      const created = await client.request(
        'POST /repos/{owner}/{repo}/issues',
        { ...at(repo), title, body, assignees },
        createdIssueSchema,
      );
      return created.number;
    },

    async updateIssue(repo, number, { title, body, reopen }) {
      refuseLong(body);
      const state = reopen ? { state: 'open', state_reason: 'reopened' } : {};
      try {
        await client.request(
          UPDATE_ISSUE,
          { ...at(repo), issue_number: number, title, body, ...state },
          anythingSchema,
        );
        return 'updated';
      } catch (error) {
        if (isAbsent(error)) return 'gone';
        throw error;
      }
    },

    // Without a filter by label: somebody may have removed it.
    async findIssue(repo, marker, since) {
      const newest = client.entries(
        'GET /repos/{owner}/{repo}/issues',
        { ...at(repo), state: 'all', since: new Date(since.getTime() - CLOCK_SKEW_MS).toISOString() },
        issuesSchema,
      );
      return (await ownOf(client, appId, newest, marker).next()).value?.number;
    },

    async createReview(repo, pullRequest, { headSha, body, comments }) {
      refuseLong(body);
      const created = await client.request(
        'POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews',
        {
          ...at(repo),
          pull_number: pullRequest,
          commit_id: headSha,
          // Never APPROVE or REQUEST_CHANGES: docs/adr/0053 says why.
          event: 'COMMENT',
          body,
          comments: comments.map(({ path, startLine, line, body }) => ({
            path,
            ...(startLine < line && { start_line: startLine, start_side: 'RIGHT' }),
            line,
            side: 'RIGHT',
            body,
          })),
        },
        createdReviewSchema,
      );
      return created.id;
    },

    // https://docs.github.com/en/rest/pulls/comments#update-a-review-comment-for-a-pull-request
    async updateReviewComment(repo, id, body) {
      return updatedText('PATCH /repos/{owner}/{repo}/pulls/comments/{comment_id}', repo, id, body);
    },

    // https://docs.github.com/en/rest/pulls/comments#create-a-reply-for-a-review-comment
    async replyInThread(repo, pullRequest, thread, body) {
      refuseLong(body);
      const created = await client.request(
        'POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies',
        { ...at(repo), pull_number: pullRequest, comment_id: thread, body },
        createdReviewSchema,
      );
      return created.id;
    },

    async findReviewComment(repo, pullRequest, marker) {
      const comments = client.entries(
        'GET /repos/{owner}/{repo}/pulls/{pull_number}/comments',
        { ...at(repo), pull_number: pullRequest },
        reviewTextsSchema,
      );
      return (await ownOf(client, appId, comments, marker).next()).value?.id;
    },

    async findReview(repo, pullRequest, marker) {
      const reviews = client.entries(REVIEWS, { ...at(repo), pull_number: pullRequest }, reviewTextsSchema);
      return (await ownOf(client, appId, reviews, marker).next()).value?.id;
    },

    async assign(repo, issue, people) {
      await client.request(
        'POST /repos/{owner}/{repo}/issues/{issue_number}/assignees',
        { ...at(repo), issue_number: issue, assignees: people },
        anythingSchema,
      );
    },

    async setMilestone(repo, issue, milestone) {
      await client.request(UPDATE_ISSUE, { ...at(repo), issue_number: issue, milestone }, anythingSchema);
    },

    // GitHub has no conditional close. It is read first, so that what somebody closed meanwhile keeps their reason.
    async close(repo, issue, reason) {
      const parameters = { ...at(repo), issue_number: issue };
      const { state } = await client.request(READ_ISSUE, parameters, issueStateSchema);
      if (state === 'closed') return;
      const why = reason === null ? {} : { state_reason: reason };
      await client.request(UPDATE_ISSUE, { ...parameters, state: 'closed', ...why }, anythingSchema);
    },

    // A deleted branch is gone for good, so it is only deleted at the commit that was merged. GitHub has no conditional deletion:
    // https://docs.github.com/en/rest/git/refs#delete-a-reference
    async deleteBranch(repo, branch, sha) {
      try {
        const { object } = await client.request(
          'GET /repos/{owner}/{repo}/git/ref/{ref}',
          { ...at(repo), ref: `heads/${branch}` },
          z.object({ object: z.object({ sha: z.string() }) }),
        );
        if (object.sha !== sha) return 'kept';
        await client.request(
          'DELETE /repos/{owner}/{repo}/git/refs/{ref}',
          { ...at(repo), ref: `heads/${branch}` },
          z.unknown(),
        );
        return 'deleted';
      } catch (error) {
        if (isAbsent(error) || (error instanceof GitHubError && error.kind === 'invalid')) return 'kept';
        throw error;
      }
    },

    backport: (repo, change) => backport(client, repo, change),
    release: (repo, wanted) => release(client, repo, wanted),

    // For a head that is up to date, GitHub made an empty merge commit at times, so that is asked first. The second page of a
    // comparison has no files: https://docs.github.com/en/rest/commits/commits#compare-two-commits
    async updateBranch(repo, { pull_request, base_ref, head_sha }) {
      const basehead = `${base_ref}...${head_sha}`;
      const { behind_by } = await client.request(
        'GET /repos/{owner}/{repo}/compare/{basehead}',
        { ...at(repo), basehead, per_page: 1, page: 2 },
        z.object({ behind_by: z.int() }),
      );
      if (behind_by === 0) return 'current';
      try {
        await client.request(
          'PUT /repos/{owner}/{repo}/pulls/{pull_number}/update-branch',
          { ...at(repo), pull_number: pull_request, expected_head_sha: head_sha },
          anythingSchema,
        );
        return 'updated';
      } catch (error) {
        if (!(error instanceof RequestFailure) || error.status !== 422) throw error;
        if (/expected head sha/i.test(error.said)) return 'moved';
        if (/no new commits on the base branch/i.test(error.said)) return 'current';
        throw error;
      }
    },

    startWorkflow: (repo, of, again) => startWorkflow(client, repo, of, again),

    async setStatus(repo, { sha, context, state, description, target_url }, again) {
      if (again && (await hasStatus())) return;
      await client.request(
        'POST /repos/{owner}/{repo}/statuses/{sha}',
        { ...at(repo), sha, context, state, description, ...(target_url !== undefined && { target_url }) },
        anythingSchema,
      );

      async function hasStatus(): Promise<boolean> {
        const route = 'GET /repos/{owner}/{repo}/commits/{ref}/status';
        for await (const status of client.entries(route, { ...at(repo), ref: sha }, statusesSchema)) {
          if (status.context.toLowerCase() === context.toLowerCase())
            return status.state === state && (status.description ?? '') === description;
        }
        return false;
      }
    },

    // Needs `pull_requests: write`, and for teams also `members: read`: github/docs#35057.
    async requestReviews(repo, pullRequest, { people, teams }) {
      await client.request(
        'POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers',
        { ...at(repo), pull_number: pullRequest, reviewers: people, team_reviewers: teams },
        anythingSchema,
      );
    },

    async wasReviewRequested(repo, pullRequest, { people, teams }, since) {
      const parameters = { ...at(repo), pull_number: pullRequest };
      const requested = await client.request(
        'GET /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers',
        parameters,
        requestedReviewersSchema,
      );
      const has = (names: readonly string[], name: string) =>
        names.some((one) => one.toLowerCase() === name.toLowerCase());
      if (requested.users.some(({ login }) => has(people, login))) return true;
      if (requested.teams.some(({ slug }) => has(teams, slug))) return true;
      // A submitted review ends the request.
      const reviews = client.entries(
        'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews',
        parameters,
        reviewsSchema,
      );
      for await (const { person, submittedAt } of reviews) {
        if (submittedAt && submittedAt >= since && has(people, person.login)) return true;
      }
      return false;
    },
  };
}

function refuseLong(body: string): void {
  if (body.length > MAX_BODY_LENGTH) {
    throw new GitHubError(
      'invalid',
      0,
      `The comment was not sent: it has ${body.length} characters, ${MAX_BODY_LENGTH} are allowed.`,
    );
  }
}
