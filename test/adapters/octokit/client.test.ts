import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { octokitsWithKey } from '../../../src/adapters/octokit/sign-in.ts';
import { CountersignError } from '../../../src/core/errors.ts';
import { GitHubError, SignInRefused } from '../../../src/ports/github.ts';
import { ManualClock } from '../../support/clock.ts';
import { APP_ID, INSTALLATION, NOW, privateKey, REPO, startFake } from './fake-server.ts';
import { givenToken, pages, scriptGitHub, TOKEN } from './scripted.ts';

const REPOSITORY = '/repos/acme/shop';
const ROUTE = 'GET /repos/{owner}/{repo}';
const repository = { id: 7, default_branch: 'main' };

async function failureOf(promise: Promise<unknown>): Promise<GitHubError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof GitHubError)) throw new Error(`a GitHubError was expected, not ${error}`);
  return error;
}

afterEach(() => {
  vi.useRealTimers();
});

describe('a request', () => {
  it('names its sender and the API version, and carries the installation’s token', async () => {
    const { github, rest, requests } = scriptGitHub();
    rest.get(REPOSITORY).reply(200, repository);
    await github.reader(INSTALLATION).repository(REPO);
    expect(requests[0]?.headers).toMatchObject({
      authorization: 'token ghs_secret',
      'user-agent': expect.stringMatching(/^countersign\/\d+\.\d+\.\d+ /),
      'x-github-api-version': '2022-11-28',
    });
  });

  it('reuses its token, and asks for a new one once GitHub rejects it', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { github, rest, tokensAsked } = scriptGitHub();
    rest.get(REPOSITORY).times(2).reply(200, repository);
    const reader = github.reader(INSTALLATION);
    await reader.repository(REPO);
    await github.reader(INSTALLATION).repository(REPO);
    expect(tokensAsked()).toBe(1);

    // In the first seconds, a rejected token only means that GitHub has not spread it to all servers yet.
    vi.setSystemTime(Date.now() + 60_000);
    rest.get(REPOSITORY).reply(401, { message: 'Bad credentials' });
    expect(await failureOf(reader.repository(REPO))).toMatchObject({ kind: 'unavailable', status: 401 });
    rest.get(REPOSITORY).reply(200, repository);
    await reader.repository(REPO);
    expect(tokensAsked()).toBe(2);
  });

  it('is counted by its route, without names of repositories', async () => {
    const [answered, heldBack] = [vi.fn(), vi.fn()];
    const { github, rest } = scriptGitHub({ metrics: { answered, heldBack } });
    rest.get(REPOSITORY).reply(200, repository, { 'x-ratelimit-remaining': '4999' });
    await github.reader(INSTALLATION).repository(REPO);
    expect(answered).toHaveBeenCalledWith({
      installationId: INSTALLATION,
      route: ROUTE,
      status: 200,
      durationMs: 0,
      revalidated: false,
      limited: false,
    });
  });

  it.each(['.', '..'])('never leaves with %s as a part of its path', async (name) => {
    const { github, requests } = scriptGitHub();
    const error = await failureOf(github.reader(INSTALLATION).repository({ owner: 'acme', name }));
    expect(error).toMatchObject({ kind: 'invalid' });
    expect(requests).toEqual([]);
  });

  it('cannot be made with an invalid private key', () => {
    expect(() =>
      octokitsWithKey({ appId: APP_ID, privateKey: 'oops', apiUrl: 'http://127.0.0.1:1' }),
    ).toThrow(CountersignError);
  });

  it('works with a key whose line ends are written as \\n', async () => {
    const { github, rest } = scriptGitHub({ key: privateKey.replaceAll('\n', '\\n') });
    rest.get(REPOSITORY).reply(200, repository);
    await expect(github.reader(INSTALLATION).repository(REPO)).resolves.toMatchObject({ id: 7 });
  });
});

describe('a failure', () => {
  it.each([
    [404, 'Not Found', 'not_found'],
    [410, 'Gone', 'not_found'],
    [401, 'Requires authentication', 'unavailable'],
    [403, 'Resource not accessible by integration', 'forbidden'],
    [422, 'Validation Failed', 'invalid'],
    [451, 'Blocked', 'invalid'],
    [500, 'Oops', 'unavailable'],
    [503, 'Down', 'unavailable'],
  ])('with %i (%s) is %s', async (status, message, kind) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { github, rest } = scriptGitHub();
    const reader = github.reader(INSTALLATION);
    rest.get(REPOSITORY).reply(200, repository);
    await reader.repository(REPO);
    // With a token of the last few seconds, Octokit itself would retry after a 401.
    vi.setSystemTime(Date.now() + 60_000);
    rest.get(REPOSITORY).reply(status, { message, documentation_url: 'https://docs.example/x' });
    const error = await failureOf(reader.repository(REPO));
    expect(error).toMatchObject({ kind, status, retryAt: undefined });
    expect(error).toMatchObject(status === 401 ? {} : { route: ROUTE });
    expect(error.message).toBe(
      status >= 500
        ? `GitHub answered ${status} to GET repository.`
        : `GitHub answered ${status} (${message}) to GET repository.`,
    );
  });

  const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);
  it.each([
    ['retry-after in seconds', 403, { 'retry-after': '17' }, 'no', at(17)],
    ['retry-after as a date', 429, { 'retry-after': at(40).toUTCString() }, 'no', at(40)],
    [
      'no request left',
      403,
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(at(600).getTime() / 1_000) },
      'API rate limit exceeded',
      at(600),
    ],
    ['its message only', 403, {}, 'You have exceeded a secondary rate limit.', at(60)],
    ['429 only', 429, {}, 'slow down', at(60)],
    ['a time in the past', 429, { 'retry-after': at(-40).toUTCString() }, 'no', at(1)],
    ['an invalid time', 429, { 'retry-after': 'soon' }, 'no', at(60)],
    [
      'a reset that does not matter, because requests are left',
      429,
      { 'x-ratelimit-remaining': '12', 'x-ratelimit-reset': String(at(600).getTime() / 1_000) },
      'no',
      at(60),
    ],
  ])(
    'because of a limit, reported by %s, says when to retry',
    async (_, status, headers, message, retryAt) => {
      const { github, rest } = scriptGitHub();
      rest.get(REPOSITORY).reply(status, { message }, headers);
      const error = await failureOf(github.reader(INSTALLATION).repository(REPO));
      expect(error).toMatchObject({ kind: 'rate_limited', status, retryAt });
    },
  );

  type Refusal = readonly [status: number, body: { message: string } | { id: number }];
  const refusal = (status: number, message: string) => [status, { message }] as const;

  it('to sign in names that route, and is not a 404 of the request itself', async () => {
    const { github, rest } = scriptGitHub({ givesTokens: false });
    const reader = github.reader(INSTALLATION);
    for (const ask of [
      () => reader.role(REPO, 'mona'),
      () => reader.folder(REPO, 'x'),
      () => reader.comment(REPO, 1),
      () => reader.requiredChecks(REPO, 'main'),
      () => reader.isTeamMember('acme', 'owners', 'mona'),
    ]) {
      rest.post(TOKEN).reply(...refusal(404, 'Not Found'));
      rest.get('/app').reply(200, { id: APP_ID });
      const error = await failureOf(ask());
      expect(error).toBeInstanceOf(SignInRefused);
      expect(error.message).toMatch(/ to POST app\/installations\/access_tokens\.$/);
    }
  });

  it.each<[string, Refusal, Refusal, unknown]>([
    ['its key is refused', refusal(401, 'no'), refusal(401, 'no'), { whose: 'app', status: 401 }],
    [
      'the App is deleted',
      refusal(404, 'Not Found'),
      refusal(404, 'Integration not found'),
      { whose: 'app', status: 404 },
    ],
    [
      'the installation is removed',
      refusal(404, 'Not Found'),
      [200, { id: APP_ID }],
      { whose: 'installation', status: 404 },
    ],
    [
      'the installation is suspended',
      refusal(403, 'This installation has been suspended'),
      [200, { id: APP_ID }],
      { whose: 'installation', status: 403 },
    ],
    [
      'GitHub fails when asked about the App',
      refusal(404, 'Not Found'),
      refusal(502, ''),
      { kind: 'unavailable', status: 502 },
    ],
  ])('to sign in is recognised when %s', async (_, token, app, expected) => {
    const { github, rest } = scriptGitHub({ givesTokens: false });
    rest.post(TOKEN).reply(...token);
    rest.get('/app').reply(...app);
    expect(await failureOf(github.reader(INSTALLATION).repository(REPO))).toMatchObject(expected as object);
  });

  it('to sign in with an earlier token is recognised by the answer that a suspended installation gets', async () => {
    const { github, rest } = scriptGitHub();
    rest.get(REPOSITORY).reply(403, { message: 'This installation has been suspended' });
    const error = await failureOf(github.reader(INSTALLATION).repository(REPO));
    expect(error).toMatchObject({ whose: 'installation', status: 403 });
    expect(github.signedOut()).toMatchObject([{ installationId: INSTALLATION }]);
  });

  it('to sign in is not repeated for a while, then is, and is over with the first success', {
    tags: 'slow',
  }, async () => {
    const clock = new ManualClock('2030-01-02T03:04:05.000Z');
    const { github, rest, tokensAsked } = scriptGitHub({ clock, givesTokens: false });
    rest
      .post(TOKEN)
      .times(14)
      .reply(...refusal(401, 'A JSON web token could not be decoded'));
    const reader = github.reader(INSTALLATION);
    const asked: number[] = [];
    for (let seconds = 0; seconds < 600; seconds += 10) {
      await failureOf(reader.repository(REPO));
      await failureOf(github.reader(INSTALLATION + 1).repository(REPO));
      asked.push(tokensAsked());
      clock.advance(10_000);
    }
    expect([asked[0], asked[1], asked.at(-1)]).toEqual([1, 2, 14]);
    expect(github.signedOut()).toEqual([
      {
        installationId: undefined,
        since: new Date('2030-01-02T03:04:05.000Z'),
        status: 401,
      },
    ]);
    rest.post(TOKEN).reply(201, givenToken('ghs_secret'));
    rest.get(REPOSITORY).reply(200, repository);
    clock.advance(60_000);
    expect(await reader.repository(REPO)).toBeDefined();
    expect(github.signedOut()).toEqual([]);
  });

  it.each([
    ['a connection that is reset', (_: unknown, response: ServerResponse) => void response.destroy()],
    [
      'a body that breaks off',
      (_: unknown, response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
        response.write('{"id": 7, ');
        setTimeout(() => response.destroy(), 20);
        return undefined;
      },
    ],
    ['an answer that does not come', () => undefined],
    [
      'an answer that does not end',
      (_: unknown, response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{');
        return undefined;
      },
    ],
    ['an answer that is not JSON', () => ({ body: '<html>' })],
    ['an answer of another shape', () => ({ body: { id: 'seven', default_branch: 'main' } })],
    ['an id larger than any', () => ({ body: '{"id": 99999999999999999999, "default_branch": "main"}' })],
  ])('by %s is unavailable', async (_, handler) => {
    const fake = await startFake({ timeoutMs: 1_000 });
    fake.on(`GET ${REPOSITORY}`, handler);
    const error = await failureOf(fake.github.reader(INSTALLATION).repository(REPO));
    expect(error.kind).toBe('unavailable');
    expect(error.message).toMatch(/ to GET repository\.$/);
  });

  it('to get a token in time is unavailable', async () => {
    const fake = await startFake({ timeoutMs: 100 });
    fake.on(`POST ${TOKEN}`, () => undefined);
    const error = await failureOf(fake.github.reader(INSTALLATION).repository(REPO));
    expect(error).toMatchObject({ kind: 'unavailable', status: 0 });
  });

  it('never contains a token', async () => {
    const fake = await startFake();
    const reader = fake.github.reader(INSTALLATION);
    fake.on(`GET ${REPOSITORY}`, (_, response) => void response.destroy());
    const reset = await failureOf(reader.repository(REPO));
    fake.on(`GET ${REPOSITORY}`, { status: 403, body: { message: 'no' } });
    const refused = await failureOf(reader.repository(REPO));
    for (const error of [reset, refused]) {
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('ghs_secret');
      expect(`${error.cause}`).not.toContain('ghs_secret');
    }
  });

  it('shows at most one line of what GitHub said', async () => {
    const { github, rest } = scriptGitHub();
    rest.get(REPOSITORY).reply(422, { message: `a\n\u001b[31m${'x'.repeat(900)}` });
    const error = await failureOf(github.reader(INSTALLATION).repository(REPO));
    expect(error.message.length).toBeLessThan(400);
    expect(error.message).not.toMatch(/\p{Cc}/u);
  });
});

describe('an unchanged answer', () => {
  it('comes from memory after GitHub confirms it', async () => {
    const [answered, heldBack] = [vi.fn(), vi.fn()];
    const { github, rest, requests } = scriptGitHub({ metrics: { answered, heldBack } });
    rest.get(REPOSITORY).reply(200, repository, { etag: '"one"' });
    rest.get(REPOSITORY).reply(304, undefined, { 'x-ratelimit-remaining': '4998' });
    const reader = github.reader(INSTALLATION);
    const first = await reader.repository(REPO);
    expect(await reader.repository(REPO)).toEqual(first);
    expect(requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"one"']);
    expect(answered).toHaveBeenLastCalledWith(expect.objectContaining({ status: 200, revalidated: true }));
  });

  it('is replaced by a changed one', async () => {
    const { github, rest } = scriptGitHub();
    rest.get(REPOSITORY).reply(200, repository, { etag: '"one"' });
    const reader = github.reader(INSTALLATION);
    await reader.repository(REPO);
    rest.get(REPOSITORY).reply(200, { ...repository, default_branch: 'trunk' }, { etag: '"two"' });
    expect((await reader.repository(REPO)).defaultBranch).toBe('trunk');
  });

  it('is not used when GitHub fails', async () => {
    const { github, rest } = scriptGitHub();
    rest.get(REPOSITORY).reply(200, repository, { etag: '"one"' });
    const reader = github.reader(INSTALLATION);
    await reader.repository(REPO);
    rest.get(REPOSITORY).reply(502, 'x');
    expect((await failureOf(reader.repository(REPO))).kind).toBe('unavailable');
  });

  it('is not shared with another installation', async () => {
    const { github, rest, requests } = scriptGitHub();
    rest.post('/app/installations/100/access_tokens').reply(201, givenToken('other'));
    rest.get(REPOSITORY).times(2).reply(200, repository, { etag: '"one"' });
    await github.reader(INSTALLATION).repository(REPO);
    await github.reader(100).repository(REPO);
    expect(requests.map(({ path, headers }) => [path.slice(0, 6), headers['if-none-match']])).toEqual([
      ['/repos', undefined],
      ['/app/i', undefined],
      ['/repos', undefined],
    ]);
  });
});

describe('a list', () => {
  const reactions = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      id: index,
      user: { id: index, login: `u${index}`, type: 'User' },
      content: 'rocket',
      created_at: '2030-01-01T00:00:00Z',
    }));
  const LIST = '/repos/acme/shop/issues/comments/5/reactions';

  it('is read to its end from the app’s own address, never from the one in the answer', async () => {
    const { github, rest, requests } = scriptGitHub();
    rest
      .get(LIST)
      .times(3)
      .reply(pages(reactions(250)));
    expect(await github.reader(INSTALLATION).reactions(REPO, 5)).toHaveLength(250);
    expect(requests.map(({ path }) => path.split('?')[1])).toEqual([
      'per_page=100',
      'per_page=100&page=2',
      'per_page=100&page=3',
    ]);
  });

  it('is read beyond a full page that was unchanged and had no next page when it was stored', async () => {
    const { github, rest } = scriptGitHub();
    const reader = github.reader(INSTALLATION);
    rest.get(LIST).reply(200, reactions(100), { etag: '"full"' });
    rest.get(LIST).reply(200, []);
    expect(await reader.reactions(REPO, 5)).toHaveLength(100);
    rest.get(LIST).reply(304);
    rest.get(LIST).reply(200, reactions(1));
    expect(await reader.reactions(REPO, 5)).toHaveLength(101);
  });

  it('is read beyond a page that is not full if GitHub says there is more', async () => {
    const { github, rest } = scriptGitHub();
    rest.get(LIST).reply(200, reactions(99), { link: '<https://x/?page=2>; rel="next"' });
    rest.get(LIST).reply(200, reactions(2));
    expect(await github.reader(INSTALLATION).reactions(REPO, 5)).toHaveLength(101);
  });

  it('without an end is refused instead of cut', { tags: 'slow' }, async () => {
    const { github, rest, requests } = scriptGitHub();
    rest.get(LIST).times(101).reply(200, reactions(100));
    const error = await failureOf(github.reader(INSTALLATION).reactions(REPO, 5));
    expect(error).toMatchObject({ kind: 'invalid' });
    expect(requests).toHaveLength(100);
  });

  it('that breaks off on a later page is an error', async () => {
    const { github, rest } = scriptGitHub();
    rest.get(LIST).reply(200, reactions(100));
    rest.get(LIST).reply(409, { message: 'Conflict' });
    expect((await failureOf(github.reader(INSTALLATION).reactions(REPO, 5))).status).toBe(409);
  });
});
