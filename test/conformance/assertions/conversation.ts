import { expect } from 'vitest';
import type { z } from 'zod';
import { commentSchema, commentsSchema, reactionsSchema } from '../../../src/adapters/octokit/answers.ts';
import { readPolledComments } from '../../../src/adapters/octokit/polled-comments.ts';
import type { Assertion, World } from '../assertion.ts';
import { needApp, refusalOf } from '../target.ts';

const LONGEST = 65_536;

async function comment(world: World, body = 'A comment of the conformance suite.'): Promise<number> {
  const { number } = await world.scratch.shared();
  return world.scratch.comment(number, body);
}

function read({ octokit, at }: World, id: number, etag?: string) {
  const headers = etag === undefined ? {} : { 'if-none-match': etag };
  return octokit.issues.getComment({ ...at, comment_id: id, headers });
}

function poll({ octokit }: World, nodeIds: readonly string[]) {
  const client = {
    queryEach: async <T>(query: string, variables: object, schema: z.ZodType<T>) => {
      const { data } = await octokit.request('POST /graphql', { query, variables });
      return { data: schema.parse(data.data), errors: [] };
    },
  };
  return readPolledComments(client, nodeIds);
}

export const conversation: readonly Assertion[] = [
  {
    claim: 'a comment names its author and counts its reactions by content',
    async check(world) {
      const id = await comment(world);
      const { data } = await read(world, id);
      expect(commentSchema.parse(data)).toMatchObject({
        id,
        author: { id: expect.any(Number), login: expect.any(String) },
        reactions: { rocket: 0, '+1': 0, '-1': 0 },
      });
    },
  },
  {
    claim: 'a reaction gives its comment another tag, when it is added and when it is removed',
    async check(world) {
      const id = await comment(world);
      const before = await read(world, id);
      const { data: reaction } = await world.octokit.reactions.createForIssueComment({
        ...world.at,
        comment_id: id,
        content: 'rocket',
      });
      let withIt = before;
      // An unchanged tag would be answered with 304, for which the client throws.
      await world.scratch.eventually(async () => {
        withIt = await read(world, id, String(before.headers.etag));
        expect(commentSchema.parse(withIt.data).reactions.rocket).toBe(1);
      });
      await world.octokit.reactions.deleteForIssueComment({
        ...world.at,
        comment_id: id,
        reaction_id: reaction.id,
      });
      await world.scratch.eventually(async () => {
        const without = await read(world, id, String(withIt.headers.etag));
        expect(commentSchema.parse(without.data).reactions.rocket).toBe(0);
      });
    },
  },
  {
    claim: 'GraphQL shows a comment by its id of REST, with the same text, reactions and head',
    async check(world) {
      const { number, headSha } = await world.scratch.shared();
      const id = await comment(world);
      const { data: reaction } = await world.octokit.reactions.createForIssueComment({
        ...world.at,
        comment_id: id,
        content: '+1',
      });
      const { data } = await read(world, id);
      const { data: pull } = await world.octokit.pulls.get({ ...world.at, pull_number: number });
      await world.scratch.eventually(async () => {
        const [polled] = await poll(world, [data.node_id]);
        expect(polled).toMatchObject({
          body: data.body,
          reactions: [{ id: reaction.id, content: '+1' }],
          pullRequest: { open: true, draft: pull.draft, headSha, baseRef: pull.base.ref },
        });
      });
    },
  },
  {
    claim: 'GraphQL shows the other comments beside one that was deleted',
    async check(world) {
      const [gone, there] = [await comment(world), await comment(world)];
      const ids = await Promise.all([gone, there].map(async (id) => (await read(world, id)).data.node_id));
      await world.octokit.issues.deleteComment({ ...world.at, comment_id: gone });
      await world.scratch.eventually(async () => {
        const polled = await poll(world, ids);
        expect(polled).toEqual([undefined, expect.objectContaining({ reactions: [] })]);
      });
    },
  },
  {
    claim: 'a mutation executes its other fields beside one that fails',
    async check(world) {
      const { number } = await world.scratch.shared();
      const { data: pull } = await world.octokit.pulls.get({ ...world.at, pull_number: number });
      const [body, variables] = [
        'Written by a mutation.',
        { subject: pull.node_id, none: `${pull.node_id}x` },
      ];
      const add = (id: string) =>
        `addComment(input: { subjectId: $${id}, body: "${body}" }) { commentEdge { node { id fullDatabaseId } } }`;
      const query = `mutation ($subject: ID!, $none: ID!) { a: ${add('none')} b: ${add('subject')} }`;
      const { data } = await world.octokit.request('POST /graphql', { query, variables });
      expect(data.data.a).toBeNull();
      expect(data.errors).toMatchObject([{ type: 'NOT_FOUND', path: ['a'] }]);
      const { id, fullDatabaseId } = data.data.b.commentEdge.node;
      const written = await read(world, Number(fullDatabaseId));
      expect(written.data).toMatchObject({ node_id: id, body });
    },
  },
  {
    claim: 'a reaction is listed with its author and time',
    async check(world) {
      const id = await comment(world);
      await world.octokit.reactions.createForIssueComment({ ...world.at, comment_id: id, content: 'eyes' });
      await world.scratch.eventually(async () => {
        const { data } = await world.octokit.reactions.listForIssueComment({ ...world.at, comment_id: id });
        expect(reactionsSchema.parse(data)).toMatchObject([
          { content: 'eyes', person: { id: expect.any(Number) }, createdAt: expect.any(Date) },
        ]);
      });
    },
  },
  {
    claim: 'the same reaction a second time is the first: 201, then 200 with the same id',
    async check(world) {
      const id = await comment(world);
      const react = () =>
        world.octokit.reactions.createForIssueComment({ ...world.at, comment_id: id, content: 'hooray' });
      const [first, second] = [await react(), await react()];
      expect([first.status, second.status]).toEqual([201, 200]);
      expect(second.data.id).toBe(first.data.id);
    },
  },
  {
    claim: 'a hidden marker in a comment is returned as it was written',
    async check(world) {
      const marker = '<!-- countersign:conformance -->';
      const id = await comment(world, `${marker}\nText`);
      const { number } = await world.scratch.shared();
      await world.scratch.eventually(async () => {
        const { data } = await world.octokit.issues.listComments({
          ...world.at,
          issue_number: number,
          per_page: 100,
        });
        const found = commentsSchema.parse(data).find((one) => one.id === id);
        expect(found?.body.startsWith(marker)).toBe(true);
      });
    },
  },
  {
    claim: 'an edited comment keeps its id',
    async check(world) {
      const id = await comment(world);
      const { data } = await world.octokit.issues.updateComment({
        ...world.at,
        comment_id: id,
        body: 'Edited',
      });
      expect(commentSchema.parse(data)).toMatchObject({ id, body: 'Edited' });
    },
  },
  {
    claim: 'a comment of 65,536 characters is accepted',
    async check(world) {
      const { number } = await world.scratch.shared();
      await world.scratch.comment(number, 'x'.repeat(LONGEST));
    },
  },
  {
    claim: 'a deleted comment is gone: 404',
    async check(world) {
      const id = await comment(world);
      await world.octokit.issues.deleteComment({ ...world.at, comment_id: id });
      await world.scratch.eventually(async () =>
        expect([404, 410]).toContain((await refusalOf(read(world, id))).status),
      );
    },
  },
  {
    claim: 'a later comment has a larger id',
    async check(world) {
      const [first, second] = [await comment(world), await comment(world)];
      expect(second).toBeGreaterThan(first);
    },
  },
  {
    claim: 'times are exact to the second',
    async check(world) {
      const { data } = await read(world, await comment(world));
      expect(data.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    },
  },
  {
    claim: 'a comment by an App names the App and is by a bot',
    async check(world) {
      const app = needApp(world);
      const { number } = await world.scratch.shared();
      const { data } = await app.octokit.issues.createComment({
        ...world.at,
        issue_number: number,
        body: 'By the App.',
      });
      try {
        expect(commentSchema.parse(data)).toMatchObject({ viaAppId: app.id, author: { type: 'Bot' } });
      } finally {
        await app.octokit.issues.deleteComment({ ...world.at, comment_id: data.id });
      }
    },
  },
];
