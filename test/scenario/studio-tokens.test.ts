// @module-tag slow
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Browser, openBrowser, post, signedIn, WITH_SIGN_IN } from '../support/browser.ts';
import { type Harness, startHarness } from '../support/harness.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let harness: Harness;
let mia: Browser;

/** A repository that everybody sees, and one that mia sees and otto does not; each has a run. */
beforeEach(async () => {
  harness = await startHarness({ studio: WITH_SIGN_IN });
  harness.github.addRepository({
    owner: 'octo',
    name: 'hidden',
    private: true,
    files: { 'README.md': '# Hidden\n' },
    collaborators: { mia: 'maintain', ada: 'write' },
  });
  for (const repo of ['octo/app', 'octo/hidden'])
    await harness.github.openPullRequest({
      repo,
      author: 'ada',
      branch: 'two',
      title: 'Two',
      files: { 'src/two.ts': 'export const two = 2;\n' },
    });
  await harness.settle();
  mia = await signedIn(harness, 'mia');
});
afterEach(() => harness.stop());

const make = async (
  browser: Browser,
  { token = 'dashboard', repositories = 'octo/app\r\nocto/hidden', days = '30' } = {},
) => {
  const answer = await post(browser, '/account/tokens', { token, repositories, days });
  const text = await answer.text();
  return { status: answer.status, text, secret: /cst_[0-9a-z]{32}/.exec(text)?.[0] ?? '' };
};

async function repositoriesSeenWith(secret: string): Promise<number | string[]> {
  const answer = await fetch(`${harness.app.url}/api/v1/runs`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  if (answer.status !== 200) return answer.status;
  const { items } = (await answer.json()) as { items: { repository: string }[] };
  return items.map(({ repository }) => repository).sort();
}

test('a person makes a token in Studio, sees it once, and revokes it', async () => {
  const account = await mia.open('/account');
  expect(account.text).toContain('>octo/app\nocto/hidden</textarea>');
  const { secret } = await make(mia);
  expect(await repositoriesSeenWith(secret)).toEqual(['octo/app', 'octo/hidden']);
  const later = await mia.open('/account');
  expect(later.text).not.toContain(secret);
  expect(later.text).toContain('<td>dashboard</td><td>octo/app, octo/hidden</td>');
  const [, revoke = ''] = /action="(\/account\/tokens\/tok_\w+\/revoke)"/.exec(later.text) ?? [];
  expect((await mia.send(later, revoke)).text).toContain('<td>revoked</td>');
  expect(await repositoriesSeenWith(secret)).toBe(401);
});

test('a token of a person ends when it expires', async () => {
  const { secret } = await make(mia, { days: '7' });
  await harness.sleep(6 * DAY);
  expect(await repositoriesSeenWith(secret)).toEqual(['octo/app', 'octo/hidden']);
  await harness.sleep(DAY);
  expect(await repositoriesSeenWith(secret)).toBe(401);
});

test('a token that is over is listed for a month, and removed with the next one that is made', async () => {
  await make(mia, { token: 'the old one', days: '7' });
  await harness.sleep(36 * DAY);
  expect((await make(await signedIn(harness, 'mia'))).text).toContain('<td>the old one</td>');
  await harness.sleep(2 * DAY);
  expect((await make(await signedIn(harness, 'mia'))).text).not.toContain('<td>the old one</td>');
});

test('a token sees no repository that its owner can no longer see on GitHub', async () => {
  const { secret } = await make(mia);
  expect(await repositoriesSeenWith(secret)).toEqual(['octo/app', 'octo/hidden']);
  harness.github.setPermission('octo/hidden', 'mia', 'none');
  await harness.advance(6 * MINUTE);
  expect(await repositoriesSeenWith(secret)).toEqual(['octo/app']);
});

test('a token sees nothing of a repository that was deleted, whoever sees the new one with its name', async () => {
  const { secret } = await make(mia);
  await harness.github.deleteRepository('octo/hidden');
  harness.github.addRepository({ owner: 'octo', name: 'hidden', files: { 'README.md': '# New\n' } });
  await harness.advance(6 * MINUTE);
  expect(await repositoriesSeenWith(secret)).toEqual(['octo/app']);
});

test('a token still sees a repository that was renamed', async () => {
  const { secret } = await make(mia);
  await harness.github.renameRepository('octo/hidden', 'renamed');
  await harness.advance(6 * MINUTE);
  expect(await repositoriesSeenWith(secret)).toEqual(['octo/app', 'octo/renamed']);
});

test('a token sees nothing while GitHub says nothing about its owner', async () => {
  const { secret } = await make(mia);
  harness.github.fail(({ path }) => path.includes('/collaborators/mia/'), { status: 502 });
  expect(await repositoriesSeenWith(secret)).toBe(503);
});

test('a token has nothing asked of GitHub during a pause that GitHub asked the engine for', async () => {
  const { secret } = await make(mia);
  const { github } = harness;
  expect(await repositoriesSeenWith(secret)).toEqual(['octo/app', 'octo/hidden']);
  const ended = github.fail(({ path }) => path.startsWith('/repos/'), {
    status: 403,
    headers: { 'retry-after': '1200' },
    body: { message: 'You have exceeded a secondary rate limit.' },
  });
  await github.openPullRequest({
    repo: 'octo/app',
    author: 'ada',
    branch: 'three',
    title: 'Three',
    files: { 'src/three.ts': 'export const three = 3;\n' },
  });
  await harness.settle();
  ended();
  await harness.advance(6 * MINUTE);
  const before = github.requests.length;
  expect(await repositoriesSeenWith(secret)).toBe(503);
  expect(github.requests.slice(before)).toEqual([]);
  await harness.advance(20 * MINUTE);
  expect(await repositoriesSeenWith(secret)).toEqual(['octo/app', 'octo/app', 'octo/hidden']);
});

test('a token is not made for a repository that the person cannot see, in the words for one that does not exist', async () => {
  const otto = await signedIn(harness, 'otto');
  const [hidden, none] = [
    await make(otto, { repositories: 'octo/hidden' }),
    await make(otto, { repositories: 'octo/none' }),
  ];
  expect([hidden.status, hidden.secret]).toEqual([422, '']);
  expect(hidden.text).toContain('You see no repository octo/hidden here.');
  const csrf = /name="csrf" value="[\w-]+"|nonce[=-][\w"-]+/g;
  expect(hidden.text.replaceAll('octo/hidden', 'octo/none').replaceAll(csrf, '')).toBe(
    none.text.replaceAll(csrf, ''),
  );
});

test('a token is not made from a form that is not filled in, which says why', async () => {
  const many = Array.from({ length: 21 }, (_, at) => `o/r${at}`).join('\n');
  for (const [fields, because] of [
    [{ token: '  ' }, 'Give it a name'],
    [{ repositories: ' \r\n' }, 'Name at least one repository'],
    [{ repositories: 'octo/app#1' }, 'is no repository'],
    [{ repositories: many }, 'at most 20'],
  ] as const) {
    const { status, secret, text } = await make(mia, fields);
    expect([fields, status, secret, text.includes(because)]).toEqual([fields, 422, '', true]);
  }
});

test('a token is not made by a form of another site, and nobody revokes that of somebody else', async () => {
  const forged = await mia.request('/account/tokens', {
    method: 'POST',
    headers: { origin: 'https://evil.example' },
    body: new URLSearchParams({ token: 'x', repositories: 'octo/app', days: '7' }),
  });
  expect(forged.status).toBe(403);
  const { secret } = await make(mia);
  const [, id = ''] =
    /action="(\/account\/tokens\/tok_\w+\/revoke)"/.exec((await mia.open('/account')).text) ?? [];
  const otto = await signedIn(harness, 'otto');
  expect((await post(otto, id, {})).status).toBe(404);
  expect((await otto.open('/account')).text).not.toContain('dashboard');
  expect((await openBrowser(harness).open('/account')).status).toBe(401);
  expect(await repositoriesSeenWith(secret)).toEqual(['octo/app', 'octo/hidden']);
});

test('a person has at most 20 tokens that can be used', async () => {
  for (let count = 0; count < 20; count++) expect((await make(mia)).status).toBe(200);
  await harness.advance(61 * MINUTE);
  const refused = await make(mia);
  expect([refused.status, refused.text.includes('Revoke one first')]).toEqual([422, true]);
});

test('a token that can be used is listed before any number of those that are over', async () => {
  await make(mia, { token: 'the one that works' });
  const [token] = await harness.app.storage.read.apiTokens.all();
  if (!token) throw new Error('there is no token');
  const revokedAt = harness.clock.now();
  await harness.app.storage.transaction(async (tx) => {
    for (let at = 0; at < 60; at++)
      await tx.apiTokens.insert({
        ...token,
        id: `tok_zz${at}`,
        name: 'over',
        hash: `${at}`,
        createdAt: revokedAt,
        revokedAt,
      });
  });
  const { text } = await mia.open('/account');
  expect(text).toContain('<td>the one that works</td>');
  expect(text).toContain(`/account/tokens/${token.id}/revoke`);
});

test('20 streams are open for a person, however many tokens they have', async () => {
  const tokens = [await make(mia), await make(mia)];
  const [run] = await harness.app.storage.read.runs.list({ repository: 'octo/app', limit: 1 });
  const follow = (secret = '') =>
    fetch(`${harness.app.url}/api/v1/runs/${run?.id}/events`, {
      headers: { authorization: `Bearer ${secret}` },
    });
  const streams = await Promise.all(Array.from({ length: 20 }, () => follow(tokens[0]?.secret)));
  expect(await (await follow(tokens[1]?.secret)).text()).toContain('event: busy');
  await Promise.all(streams.map((stream) => stream.body?.cancel()));
});
