import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiToken } from '../../../src/domain/api-token/api-token.ts';
import { hashOfApiToken } from '../../../src/domain/api-token/api-token.ts';
import { ROUTES } from '../../../src/entrypoints/api/routes.ts';
import { type Harness, startHarness } from '../../support/harness.ts';

const HOUR = 3_600_000;
const ALL = `cst_${'a'.repeat(32)}`;
const NONE = `cst_${'b'.repeat(32)}`;
const OPERATOR = `cst_${'c'.repeat(32)}`;
const LIMITED_OPERATOR = `cst_${'f'.repeat(32)}`;
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
        owner: null,
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
  await add(LIMITED_OPERATOR, { scopes: ['read', 'operate'], repositoryIds: [newest?.repositoryId ?? 0] });
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
    .replace('{name}', 'pr-review')
    .replace('{owner}/{repo}/pulls/{number}', 'octo/app/pulls/1');

/** The first events of a stream, which is then left. */
async function eventsOf(answer: Response, count: number) {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  const events: { id: string; data: string; event: string }[] = [];
  let text = '';
  while (events.length < count) {
    const { value, done } = (await reader?.read()) ?? { done: true };
    if (done) break;
    text += value;
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts.filter((one) => !one.startsWith(':'))) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1] ?? '';
      events.push({ id: field('id'), data: field('data'), event: field('event') });
    }
  }
  await reader?.cancel();
  return events;
}

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
    const content = found?.stamp
      ? JSON.parse((await eventsOf(answer, 1))[0]?.data ?? '')
      : await answer.json();
    expect(found?.answer.safeParse(content).error).toBeUndefined();
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
    '/runs/{id}/events',
    '/repos/{owner}/{repo}/pulls/{number}',
    '/repos/{owner}/{repo}/pulls/{number}/why',
    '/chains/{name}',
  ])('answers 404 for %s of a repository that the token cannot see', async (at) => {
    const answer = await get(concrete(at), NONE);
    expect([answer.status, await answer.json()]).toEqual([
      404,
      { error: { code: 'api.not_found', message: expect.any(String) } },
    ]);
  });

  it.each(['/runs', '/artifacts', '/pulls', '/chains'])(
    'lists nothing in %s of a repository that the token cannot see',
    async (at) => {
      expect(await (await get(at, NONE)).json()).toEqual({ items: [], next: null });
    },
  );

  it('lists artifacts by kind, result, repository and time, grouped by run', async () => {
    const of = async (query: string) => {
      const { items } = (await (await get(`/artifacts?${query}`, ALL)).json()) as {
        items: { run_id: string; artifacts: { kind: string; passed: boolean | null }[] }[];
      };
      return items.map(({ run_id, artifacts }) => [
        run_id,
        ...artifacts.map(({ kind, passed }) => [kind, passed]),
      ]);
    };
    expect(await of('kind=review_verdict')).toEqual([[run, ['review_verdict', true]]]);
    expect(await of('kind=review_verdict&failed=true')).toEqual([]);
    expect(await of('verdict=REQUEST_CHANGES')).toEqual([]);
    expect(await of('repository=octo/other')).toEqual([]);
    expect(await of(`since=${new Date(harness.clock.now().getTime() + HOUR).toISOString()}`)).toEqual([]);
  });

  it('lists pull requests by repository, state and author, and shows one with its runs', async () => {
    const found = { repository: 'octo/app', number: 1, title: 'two', author: 'ada', state: 'open' };
    for (const query of ['', '?repository=OCTO/app&state=open&author=Ada'])
      expect(await (await get(`/pulls${query}`, ALL)).json()).toEqual({
        items: [expect.objectContaining(found)],
        next: null,
      });
    expect(await (await get('/pulls?state=merged', ALL)).json()).toEqual({ items: [], next: null });
    expect(await (await get('/repos/octo/app/pulls/1', ALL)).json()).toMatchObject({
      ...found,
      runs: [{ id: run, chain: 'pr-review' }],
    });
  });

  it('reports the repositories that the token may see, page by page', async () => {
    const found = {
      repository: 'octo/app',
      rollout: 'enforce',
      configuration: { branch: 'main', errors: 0, first: null },
    };
    for (const query of ['', '?days=7&organisation=OCTO', '?repository=Octo/App'])
      expect(await (await get(`/report${query}`, ALL)).json()).toEqual({
        items: [expect.objectContaining(found)],
        next: null,
      });
    const none = { items: [], next: null };
    expect(await (await get('/report', NONE)).json()).toEqual(none);
    expect(await (await get('/report?organisation=acme', ALL)).json()).toEqual(none);
    const after = Buffer.from(JSON.stringify(['octo/app', Number.MAX_SAFE_INTEGER])).toString('base64url');
    expect(await (await get(`/report?cursor=${after}`, ALL)).json()).toEqual(none);
    expect((await get('/report?days=91', ALL)).status).toBe(400);
  });

  it('shows a chain with its definition, its runs by repository and how long its steps take', async () => {
    expect(await (await get('/chains', ALL)).json()).toEqual({
      items: [expect.objectContaining({ name: 'pr-review', repository: 'octo/app', state: 'active' })],
      next: null,
    });
    const chain = await (await get('/chains/pr-review', ALL)).json();
    expect(chain).toMatchObject({
      definition: {
        name: 'pr-review',
        steps: expect.arrayContaining([expect.objectContaining({ id: 'merge' })]),
      },
      repositories: [{ repository: 'octo/app', newest_run: { id: run } }],
    });
    expect((await get('/chains/unknown', ALL)).status).toBe(404);
  });

  it('goes on in the list of chains after the run that a cursor names', async () => {
    const names = async (at: Date, id: string) => {
      const cursor = Buffer.from(JSON.stringify([at.toISOString(), id])).toString('base64url');
      const { items } = (await (await get(`/chains?limit=1&cursor=${cursor}`, ALL)).json()) as {
        items: { name: string }[];
      };
      return items.map(({ name }) => name);
    };
    const newest = await harness.app.storage.read.runs.get(run);
    const begun = newest?.createdAt ?? new Date(0);
    expect(await names(begun, `${run}_`)).toEqual(['pr-review']);
    expect(await names(begun, run)).toEqual([]);
  });

  it('keeps no stream open for somebody who asks only for its head', async () => {
    const at = `/api/v1/runs/${run}/events`;
    const headers = { authorization: `Bearer ${ALL}` };
    for (let times = 0; times < 21; times++) {
      const { status } = await fetch(`${harness.app.url}${at}`, { method: 'HEAD', headers });
      expect(status).toBe(200);
    }
    const [first] = await eventsOf(await get(`/runs/${run}/events`, ALL), 1);
    expect(first?.event).toBe('');
    expect(JSON.parse(first?.data ?? '')).toMatchObject({ id: run });
  });

  it('refuses deliveries to a token without the scope, and shows none to one that is limited to repositories', async () => {
    const tokens = [ALL, LIMITED_OPERATOR, OPERATOR];
    const answers = await Promise.all(tokens.map((token) => get('/deliveries', token)));
    expect(answers.map(({ status }) => status)).toEqual([403, 404, 200]);
  });

  it.each([
    ['GET', '/nothing'],
    ['GET', '/runs/'],
    ['GET', ''],
    ['OPTIONS', '/runs'],
    ['POST', '/runs'],
    ['DELETE', '/runs'],
  ])('answers %s %s with an error in JSON', async (method, at) => {
    const answer = await fetch(`${harness.app.url}/api/v1${at}`, {
      method,
      headers: { authorization: `Bearer ${ALL}` },
    });
    expect([answer.status, await answer.json()]).toEqual([
      404,
      { error: { code: 'api.not_found', message: expect.any(String) } },
    ]);
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

it.each(['/runs', '/pulls', '/deliveries'])(
  'the API goes from page to page of %s by cursors, and shows each thing once',
  { tags: 'slow' },
  async (at) => {
    await open(`more-${at.slice(1)}`);
    await harness.settle();
    const pages = async (limit: number) => {
      const seen: unknown[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
        const page = (await (await get(`${at}?limit=${limit}${query}`, OPERATOR)).json()) as {
          items: unknown[];
          next: string | null;
        };
        seen.push(...page.items);
        cursor = page.next;
      }
      return seen;
    };
    const all = await pages(100);
    expect(all.length).toBeGreaterThan(1);
    expect(await pages(1)).toEqual(all);
  },
);

it('the API finds a pull request and why it does not merge by the name that its repository has or had, in any case', {
  tags: 'slow',
}, async () => {
  await harness.github.renameRepository('octo/app', 'renamed');
  await harness.settle();
  const found = async (name: string) => {
    const answers = await Promise.all(['', '/why'].map((end) => get(`/repos/${name}/pulls/1${end}`, ALL)));
    return answers.map(({ status }) => status);
  };
  for (const name of ['octo/renamed', 'OCTO/Renamed', 'octo/app'])
    expect([name, await found(name)]).toEqual([name, [200, 200]]);
  await harness.github.renameRepository('octo/renamed', 'app');
  await harness.settle();
});

it('the API sends a run at once and whenever it changes, and goes on after a break', {
  tags: 'slow',
}, async () => {
  await open('followed');
  await harness.settle();
  const [begun] = await harness.app.storage.read.runs.list({ limit: 1 });
  const id = begun?.id ?? '';
  const [first] = await eventsOf(await get(`/runs/${id}/events`, ALL), 1);
  expect(JSON.parse(first?.data ?? '')).toMatchObject({ id, status: begun?.status });
  const resumed = await get(`/runs/${id}/events`, ALL, { 'last-event-id': first?.id ?? '' });
  await harness.app.storage.transaction(async (tx) => {
    const state = await tx.runs.load(id);
    if (state)
      await tx.runs.save({ ...state, run: { ...state.run, status: 'cancelled' } }, { kind: 'operator' });
  });
  const [next] = await eventsOf(resumed, 1);
  expect(JSON.parse(next?.data ?? '')).toMatchObject({ id, status: 'cancelled' });
});
