import { z } from 'zod';
import { isOwnComment } from '../../domain/policy/own-comment.ts';
import { GitHubError, type GitHubWriter } from '../../ports/github.ts';
import { anythingSchema, commentsSchema, createdCheckRunSchema, createdCommentSchema } from './answers.ts';
import { checkRunsSchema } from './check-answers.ts';
import { checkRunBodies } from './check-run.ts';
import type { Client } from './client.ts';
import { isAbsent } from './failure.ts';
import { at } from './reader.ts';

const UPDATE_CHECK_RUN = 'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}';
/** https://docs.github.com/en/rest/issues/comments */
const MAX_BODY_LENGTH = 65_536;

/** Everything that is written to GitHub but the merge. Nothing is tried again in here. */
export function createWriter(
  client: Client,
  appId: number,
): Omit<GitHubWriter, 'merge' | 'passGate' | 'enqueue' | 'dequeue'> {
  return {
    /** If a later part of the annotations fails, the run exists: `findCheckRun` says how many it has. */
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

    // All, not only the latest: a run of the same name may have come after it.
    async findCheckRun(repo, headSha, externalId, after) {
      const runs = client.entries(
        'GET /repos/{owner}/{repo}/commits/{ref}/check-runs',
        { ...at(repo), ref: headSha, app_id: appId, filter: 'all' },
        checkRunsSchema,
      );
      for await (const run of runs) {
        if (run.appId === appId && run.externalId === externalId && run.id > after) {
          return { id: run.id, annotations: run.annotations, url: run.url ?? undefined };
        }
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
      refuseLong(body);
      try {
        await client.request(
          'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}',
          { ...at(repo), comment_id: id, body },
          anythingSchema,
        );
        return 'updated';
      } catch (error) {
        if (isAbsent(error)) return 'gone';
        throw error;
      }
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
        // The answer that named the account is the one that was lost, so it is asked for; only where no app is named.
        if (comment.viaAppId === null) accountId ??= await readOwnAccount(client);
        if (isOwnComment(comment, { appId, accountId }))
          return { id: comment.id, authorId: comment.author.id };
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
  };
}

const viewerSchema = z.object({ viewer: z.object({ databaseId: z.int() }) });

/**
 * The account of this app's bot. REST's `GET /user` is closed to installations; GraphQL's `viewer` is not:
 * https://docs.github.com/en/graphql/reference/queries#viewer, and Renovate asks so for the same purpose.
 * @throws GitHubError when GitHub does not say; whoever looks for a comment must then not take it that there is none.
 */
async function readOwnAccount(client: Client): Promise<number> {
  return (await client.query('query { viewer { databaseId } }', {}, viewerSchema)).viewer.databaseId;
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
