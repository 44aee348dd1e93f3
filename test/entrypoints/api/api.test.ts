import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiToken } from '../../../src/domain/api-token/api-token.ts';
import { hashOfApiToken } from '../../../src/domain/api-token/api-token.ts';
import { ROUTES } from '../../../src/entrypoints/api/routes.ts';
import { type Harness, startHarness } from '../../support/harness.ts';

const HOUR = 3_600_000;
const ALL = `cst_${'a'.repeat(32)}`;
const NONE = `cst_${'b'.repeat(32)}`;
const OPERATOR = `cst_${'c'.repeat(32)}`;
const EXPIRED = `cst_${'d'.repeat(32)}`;
const REVOKED = `cst_${'e'.repeat(32)}`;

let harness: Harness;
let run: string;

const open = (branch: string) =>
  harness.github.openPullRequest({
    repo: 'octo/app',
    author: 'ada',
    branch,
    title: branch,
    files: { [`src/${branch}.ts`]: 'export const two = 2;\n' },
  });

beforeAll(async () => {
  harness = await startHarness({ studio: { isPublic: false, operators: [] } });
  await open('two');
  await harness.settle();
  const [newest] = await harness.app.storage.read.runs.list({ limit: 1 });
  run = newest?.id ?? '';
  const now = harness.clock.now();
  const add = (secret: string, token: Partial<ApiToken> = {}) =>
    harness.app.storage.transaction((tx) =>
      tx.apiTokens.insert({
        id: `tok_${secret.slice(4, 8)}`,
        name: 'a test',
        hash: hashOfApiToken(secret) ?? '',
        scopes: ['read'],
        repositoryIds: null,
        createdAt: now,
        expiresAt: new Date(now.getTime() + HOUR),
        revokedAt: null,
        usedAt: null,
        ...token,
      }),
    );
  await add(ALL);
  await add(NONE, { repositoryIds: [] });
  await add(OPERATOR, { scopes: ['read', 'operate'] });
  await add(EXPIRED, { expiresAt: now });
  await add(REVOKED, { revokedAt: now });
});
afterAll(() => harness.stop());

function get(path: string, token?: string, headers: Record<string, string> = {}) {
  return fetch(`${harness.app.url}/api/v1${path}`, {
    headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
  });
}

const concrete = (at: string) =>
  at
    .replace('/runs/{id}', `/runs/${run}`)
    .replace('/artifacts/{id}', '/artifacts/art_1')
    .replace('{owner}/{repo}/pulls/{number}', 'octo/app/pulls/1');

describe('the API', () => {
  it('lists runs as the command line shows them', async () => {
    const answer = await get('/runs', ALL);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      items: [
        expect.objectContaining({ id: run, chain: 'pr-review', repository: 'octo/app', pull_request: 1 }),
      ],
      next: null,
    });
  });

  it.each(ROUTES.map(({ at }) => at))('answers for %s in the form that it describes', async (at) => {
    const answer = await get(concrete(at), OPERATOR);
    const [found] = ROUTES.filter((route) => route.at === at);
    if (at === '/artifacts/{id}') {
      const [artifact] = await harness.app.storage.read.artifacts.list({ limit: 1 });
      const one = await get(`/artifacts/${artifact?.id}`, OPERATOR);
      expect(found?.answer.safeParse(await one.json()).error).toBeUndefined();
      return;
    }
    expect(answer.status).toBe(200);
    expect(found?.answer.safeParse(await answer.json()).error).toBeUndefined();
  });

  it.each(ROUTES.map(({ at }) => at))('says nothing of %s without a valid token', async (at) => {
    const answers = await Promise.all(
      [undefined, 'cst_wrong', `cst_${'z'.repeat(32)}`, EXPIRED, REVOKED].map((token) =>
        get(concrete(at), token),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
  });

  it.each([
    '/runs/{id}',
    '/runs/{id}/why',
    '/runs/{id}/artifacts',
    '/repos/{owner}/{repo}/pulls/{number}/why',
  ])('answers 404 for %s of a repository that the token cannot see', async (at) => {
    const answer = await get(concrete(at), NONE);
    expect([answer.status, await answer.json()]).toEqual([
      404,
      { error: { code: 'api.not_found', message: expect.any(String) } },
    ]);
  });

  it('lists no run of a repository that the token cannot see', async () => {
    expect(await (await get('/runs', NONE)).json()).toEqual({ items: [], next: null });
  });

  it('refuses deliveries to a token without the scope, and to one that is limited to repositories', async () => {
    const [read, limited] = [await get('/deliveries', ALL), await get('/deliveries', OPERATOR)];
    expect([read.status, limited.status]).toEqual([403, 200]);
  });

  it('says which part of a query is wrong and what is allowed', async () => {
    const answers = await Promise.all(
      ['?limit=0', '?cursor=nonsense', '?state=open', '?status=done'].map(async (query) => {
        const answer = await get(`/runs${query}`, ALL);
        return [answer.status, ((await answer.json()) as { error: { message: string } }).error.message];
      }),
    );
    expect(answers).toMatchSnapshot();
  });

  it('answers 304 to the ETag of an unchanged answer', async () => {
    const first = await get(`/runs/${run}`, ALL);
    const again = await get(`/runs/${run}`, ALL, { 'if-none-match': first.headers.get('etag') ?? '' });
    expect([first.status, again.status, await again.text()]).toEqual([200, 304, '']);
  });
});

it('the API goes from page to page by cursors, and shows each run once', { tags: 'slow' }, async () => {
  for (const branch of ['three', 'four', 'five']) await open(branch);
  await harness.settle();
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const page = (await (await get(`/runs?limit=1${query}`, ALL)).json()) as {
      items: { id: string }[];
      next: string | null;
    };
    seen.push(...page.items.map(({ id }) => id));
    cursor = page.next;
  }
  const all = await harness.app.storage.read.runs.list({});
  expect(seen).toEqual(all.map(({ id }) => id));
});
