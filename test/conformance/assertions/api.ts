import { expect } from 'vitest';
import { z } from 'zod';
import { permissionSchema } from '../../../src/adapters/octokit/account.ts';
import {
  appSchema,
  deliveryAttemptsSchema,
  installationsSchema,
  webhookSchema,
} from '../../../src/adapters/octokit/answers.ts';
import { readCredits } from '../../../src/adapters/octokit/credits.ts';
import type { Assertion } from '../assertion.ts';
import { needApp, refusalOf, Unavailable } from '../target.ts';

const FOLDED: Readonly<Record<string, string>> = { maintain: 'write', triage: 'read' };

export const api: readonly Assertion[] = [
  {
    claim: 'a conditional request with the tag of an unchanged answer gets 304',
    async check({ octokit, at, scratch }) {
      const { headSha } = await scratch.shared();
      const read = (headers = {}) => octokit.git.getTree({ ...at, tree_sha: headSha, headers });
      const { etag } = (await read()).headers;
      expect((await refusalOf(read({ 'if-none-match': String(etag) }))).status).toBe(304);
    },
  },
  {
    claim: 'a list that continues links to its next page',
    async check({ octokit, at, scratch }) {
      const { number } = await scratch.shared();
      for (const body of ['one', 'two']) await scratch.comment(number, body);
      await scratch.eventually(async () => {
        const { data, headers } = await octokit.issues.listComments({
          ...at,
          issue_number: number,
          per_page: 1,
        });
        expect(data).toHaveLength(1);
        expect(headers.link).toMatch(/;\s*rel="next"/);
      });
    },
  },
  {
    claim: 'an answer says how much is left of the hour, and of which limit',
    async check({ octokit, at }) {
      const { headers } = await octokit.repos.get(at);
      expect(headers).toMatchObject({
        'x-ratelimit-limit': expect.stringMatching(/^\d+$/),
        'x-ratelimit-remaining': expect.stringMatching(/^\d+$/),
        'x-ratelimit-reset': expect.stringMatching(/^\d{10}$/),
        'x-ratelimit-resource': 'core',
      });
    },
  },
  {
    claim: "somebody's role is given beside the coarser permission",
    async check({ octokit, at, person }) {
      if (person === undefined) throw new Unavailable('nobody is known whose role could be asked');
      const { data } = await octokit.repos.getCollaboratorPermissionLevel({ ...at, username: person });
      const { permission, role_name: role, user } = permissionSchema.parse(data);
      expect(user?.login.toLowerCase()).toBe(person.toLowerCase());
      if (role && ['admin', 'maintain', 'write', 'triage', 'read', 'none'].includes(role))
        expect(permission).toBe(FOLDED[role] ?? role);
    },
  },
  {
    claim: 'the role of somebody who does not exist is a 404',
    async check({ octokit, at }) {
      const username = `countersign-nobody-${Date.now().toString(36)}`;
      const asked = refusalOf(octokit.repos.getCollaboratorPermissionLevel({ ...at, username }));
      expect((await asked).status).toBe(404);
    },
  },
  {
    claim: 'GraphQL names the people whom a commit credits, co-authors included',
    async check({ octokit, at, scratch }) {
      const message = 'Credit somebody\n\nCo-authored-by: Nobody <nobody@countersign.invalid>';
      const { number, headSha } = await scratch.pullRequest({ message });
      const repo = { owner: at.owner, name: at.repo };
      const client = {
        query: async <T>(text: string, variables: object, schema: z.ZodType<T>) =>
          schema.parse(await octokit.graphql(text, { ...variables })),
      };
      await scratch.eventually(async () => {
        const credits = await readCredits(client, repo, number);
        expect(credits.map(({ sha }) => sha)).toContain(headSha);
        // An address without an account belongs to nobody.
        expect(credits.at(-1)?.authors.map(({ login }) => login)).not.toContain('Nobody');
      });
    },
  },
  {
    claim: 'GraphQL answers 200 for an error, and says what is wrong',
    async check({ octokit, at }) {
      const query = '{ repository(owner: "octocat", name: "countersign-none") { id } }';
      const { status, data } = await octokit.request('POST /graphql', { query });
      expect(status, at.repo).toBe(200);
      expect(data.errors).toMatchObject([{ type: 'NOT_FOUND', message: expect.any(String) }]);
    },
  },
  {
    claim: 'GraphQL names the account that writes',
    async check({ octokit }) {
      const answer = await octokit.graphql('{ viewer { login databaseId } }');
      const { viewer } = z
        .object({ viewer: z.object({ databaseId: z.int(), login: z.string() }) })
        .parse(answer);
      expect(viewer.databaseId).toBeGreaterThan(0);
    },
  },
  {
    claim: 'GraphQL gives a branch without a merge queue none',
    async check(world) {
      const { octokit } = needApp(world);
      const { base } = await world.scratch.shared();
      const query = `query ($owner: String!, $name: String!, $branch: String!) {
        repository(owner: $owner, name: $name) { mergeQueue(branch: $branch) { id } }
      }`;
      const variables = { owner: world.at.owner, name: world.at.repo, branch: base };
      const { data } = await octokit.request('POST /graphql', { query, variables });
      if (data.errors) throw new Unavailable('the App may not read merge queues');
      expect(data.data.repository.mergeQueue).toBeNull();
    },
  },
  {
    claim: 'the App can list its webhook deliveries, each with the GUID of its event',
    async check(world) {
      const { jwt } = needApp(world);
      const { data } = await jwt.apps.listWebhookDeliveries({ per_page: 5 });
      for (const { guid } of deliveryAttemptsSchema.parse(data)) expect(guid).not.toBe('');
    },
  },
  {
    claim: 'the App reads its own registration, with its permissions and events',
    async check(world) {
      const { data } = await needApp(world).jwt.apps.getAuthenticated();
      const { owner, permissions, events } = appSchema.parse(data);
      expect(owner).not.toBe('an unknown account');
      expect([permissions.metadata, events]).toEqual(['read', expect.arrayContaining(['pull_request'])]);
    },
  },
  {
    claim: 'the App reads how its webhook is set, but not its secret',
    async check(world) {
      const { data } = await needApp(world).jwt.apps.getWebhookConfigForApp();
      expect(webhookSchema.parse(data)).toMatchObject({ contentType: 'json' });
      expect(data.secret ?? '').toMatch(/^\**$/);
    },
  },
  {
    claim: 'the App lists its installations, and says which are suspended',
    async check(world) {
      const { jwt, installationId } = needApp(world);
      const { data } = await jwt.apps.listInstallations({ per_page: 100 });
      expect(installationsSchema.parse(data)).toContainEqual(
        expect.objectContaining({ id: installationId, suspended: false }),
      );
    },
  },
  {
    claim: 'a token that is limited to reading cannot write: 403',
    async check(world) {
      const { jwt, installationId, octokit, withToken } = needApp(world);
      const { number } = await world.scratch.shared();
      const { data: repository } = await octokit.repos.get(world.at);
      const { data } = await jwt.apps.createInstallationAccessToken({
        installation_id: installationId,
        repository_ids: [repository.id],
        permissions: { contents: 'read' },
      });
      const comment = { ...world.at, issue_number: number, body: 'Never written' };
      const narrow = withToken(data.token).issues.createComment(comment);
      expect((await refusalOf(narrow)).status).toBe(403);
    },
  },
];
