import { z } from 'zod';
import type { PolledComment } from '../../domain/policy/question-watch.ts';
import { MAX_POLLED } from '../../ports/github.ts';
import type { Client } from './client.ts';

/**
 * What the poller compares of a comment:
 * https://docs.github.com/en/graphql/reference/objects#issuecomment
 */
const FIELDS = `... on IssueComment {
    body
    reactions(first: 100) { pageInfo { hasNextPage } nodes { databaseId content } }
    pullRequest { state isDraft headRefOid baseRefName mergeable }
  }`;

/**
 * GitHub accepts 100 ids in each list, and several lists in one query:
 * https://github.com/sourcecred/sourcecred/pull/908
 */
const PER_LIST = 100;
const LISTS = ['a', 'b', 'c'].slice(0, Math.ceil(MAX_POLLED / PER_LIST));

/** The names of REST: https://docs.github.com/en/graphql/reference/enums#reactioncontent */
export const CONTENTS: Readonly<Record<string, string>> = {
  THUMBS_UP: '+1',
  THUMBS_DOWN: '-1',
  LAUGH: 'laugh',
  HOORAY: 'hooray',
  CONFUSED: 'confused',
  HEART: 'heart',
  ROCKET: 'rocket',
  EYES: 'eyes',
};

const commentSchema = z
  .object({
    body: z.string(),
    reactions: z.object({
      pageInfo: z.object({ hasNextPage: z.boolean() }),
      nodes: z.array(z.object({ databaseId: z.int(), content: z.string() })),
    }),
    pullRequest: z.object({
      state: z.enum(['OPEN', 'CLOSED', 'MERGED']),
      isDraft: z.boolean(),
      headRefOid: z.string(),
      baseRefName: z.string(),
      mergeable: z.string(),
    }),
  })
  .transform(
    ({ body, reactions, pullRequest: pull }): PolledComment => ({
      body,
      reactions: reactions.pageInfo.hasNextPage
        ? undefined
        : reactions.nodes.map(({ databaseId, content }) => ({
            id: databaseId,
            content: CONTENTS[content] ?? content,
          })),
      pullRequest: {
        open: pull.state === 'OPEN',
        draft: pull.isDraft,
        headSha: pull.headRefOid,
        baseRef: pull.baseRefName,
        conflicts: pull.mergeable === 'UNKNOWN' ? undefined : pull.mergeable === 'CONFLICTING',
      },
    }),
  );

/** A node that GitHub does not show, or does not show completely, is like one that was not asked for. */
const answerSchema = z.record(z.string(), z.array(commentSchema.optional().catch(undefined)));

export async function readPolledComments(
  client: Pick<Client, 'queryEach'>,
  nodeIds: readonly string[],
): Promise<(PolledComment | undefined)[]> {
  const lists = LISTS.map((alias, index) => ({
    alias,
    ids: nodeIds.slice(index * PER_LIST, (index + 1) * PER_LIST),
  })).filter(({ ids }) => ids.length > 0);
  const parameters = lists.map(({ alias }) => `$${alias}: [ID!]!`).join(', ');
  const fields = lists.map(({ alias }) => `${alias}: nodes(ids: $${alias}) { ${FIELDS} }`).join('\n  ');
  const { data: answer } = await client.queryEach(
    `query (${parameters}) {\n  ${fields}\n}`,
    Object.fromEntries(lists.map(({ alias, ids }) => [alias, ids])),
    answerSchema,
  );
  return lists.flatMap(({ alias, ids }) => ids.map((_, index) => answer[alias]?.[index]));
}
