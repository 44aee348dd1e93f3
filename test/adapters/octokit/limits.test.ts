import type { ServerResponse } from 'node:http';
import nock from 'nock';
import { describe, expect, it, vi } from 'vitest';
import type { GitHubWriter } from '../../../src/ports/github.ts';
import { INSTALLATION, NOW, REPO, startFake } from './fake-server.ts';
import { givenToken, scriptGitHub } from './scripted.ts';

const REPOSITORY = '/repos/acme/shop';
const COMMENT = '/repos/acme/shop/issues/1/comments';
const repository = { id: 7, default_branch: 'main' };
const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);
const hour = (remaining: number) => ({
  'x-ratelimit-limit': '5000',
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-reset': String(at(600).getTime() / 1_000),
});

/** The adapter with a clock that a test can move. */
function start() {
  let now = NOW;
  const metrics = { answered: vi.fn(), heldBack: vi.fn() };
  return {
    ...scriptGitHub({ clock: { now: () => now }, metrics }),
    metrics,
    moveTo: (moment: Date) => {
      now = moment;
    },
  };
}

describe('GitHub’s limits', () => {
  it.each([
    ['seconds', { 'retry-after': '30' }],
    ['a date', { 'retry-after': at(30).toUTCString() }],
  ])('stop all requests during a pause given as %s, and then allow them', async (_, headers) => {
    const { rest, github, requests, metrics, moveTo } = start();
    rest.get(REPOSITORY).reply(429, { message: 'You have exceeded a secondary rate limit.' }, headers);
    await expect(github.reader(INSTALLATION).repository(REPO)).rejects.toMatchObject({
      kind: 'rate_limited',
    });
    rest.get(REPOSITORY).times(2).reply(200, repository);
    rest.post(COMMENT).reply(201, { id: 1 });

    moveTo(at(29.999));
    for (const asked of [
      github.reader(INSTALLATION, 'person').repository(REPO),
      github.writer(INSTALLATION).createComment(REPO, 1, 'Hello'),
    ]) {
      await expect(asked).rejects.toMatchObject({ kind: 'rate_limited', status: 0, retryAt: at(30) });
    }
    expect(requests).toHaveLength(1);
    expect(metrics.heldBack.mock.calls).toEqual([['person'], ['person']]);
    expect(metrics.answered).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ status: 429, limited: true }),
    );

    moveTo(at(30));
    await github.reader(INSTALLATION).repository(REPO);
    expect(requests).toHaveLength(2);
  });

  it('belong to one installation', async () => {
    const { rest, github } = start();
    rest.post('/app/installations/100/access_tokens').reply(201, givenToken('other'));
    rest.get(REPOSITORY).reply(429, { message: 'slow down' });
    await expect(github.reader(INSTALLATION).repository(REPO)).rejects.toThrow();
    rest.get(REPOSITORY).reply(200, repository);
    await expect(github.reader(100).repository(REPO)).resolves.toMatchObject({ id: 7 });
  });

  it('stop the least urgent requests first, and say when they may continue', async () => {
    const { rest, github, requests } = start();
    const read = (urgency: 'person' | 'run' | 'background') =>
      github
        .reader(INSTALLATION, urgency)
        .repository(REPO)
        .then(
          () => 'read',
          (error: { retryAt?: Date }) => error.retryAt,
        );
    rest.get(REPOSITORY).reply(200, repository, hour(900));
    expect(await read('background')).toBe('read');
    expect(await read('background')).toEqual(at(600));
    rest.get(REPOSITORY).times(2).reply(200, repository, hour(200));
    expect(await read('run')).toBe('read');
    expect(await read('run')).toEqual(at(600));
    expect(await read('person')).toBe('read');
    expect(requests).toHaveLength(3);
    const status = github.rateLimits().find(({ installationId }) => installationId === INSTALLATION);
    expect(status?.hour).toEqual({ limit: 5_000, remaining: 200, resetAt: at(600) });
  });

  it('let the least urgent requests confirm what they already know', async () => {
    const { rest, github, requests } = start();
    rest.get(REPOSITORY).reply(200, repository, { etag: '"one"', ...hour(10) });
    rest.get(REPOSITORY).matchHeader('if-none-match', '"one"').reply(304, undefined, hour(10));
    const reader = github.reader(INSTALLATION, 'background');
    await reader.repository(REPO);
    await expect(reader.repository(REPO)).resolves.toMatchObject({ id: 7 });
    expect(requests).toHaveLength(2);
    await expect(reader.pullRequest(REPO, 1)).rejects.toMatchObject({ kind: 'rate_limited' });
    expect(requests).toHaveLength(2);
  });

  it('hold for a hundred requests at once: at most twenty are under way', { tags: 'slow' }, async () => {
    const fake = await startFake();
    const open = new Set<ServerResponse>();
    let most = 0;
    fake.on(`GET ${REPOSITORY}`, (_, response: ServerResponse) => {
      open.add(response);
      most = Math.max(most, open.size);
      // Nobody is answered before twenty wait. A moment later there would be more, if more were allowed.
      if (open.size === 20) setTimeout(answerAll, 30);
      return undefined;
    });
    const answerAll = () => {
      for (const response of open)
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(repository));
      open.clear();
    };
    const reader = fake.github.reader(INSTALLATION, 'person');
    await Promise.all(Array.from({ length: 100 }, () => reader.repository(REPO)));
    expect(most).toBe(20);
  });
});

describe('a write that GitHub redirects to a renamed repository', () => {
  const leads = (status: number, location: string) => [status, {}, { location }] as const;

  it.each([301, 302, 307, 308])('with status %i arrives there unchanged', async (status) => {
    const { rest, github, requests } = start();
    rest.post(COMMENT).reply(...leads(status, '/api/v3/repositories/7/issues/1/comments'));
    rest.post('/repositories/7/issues/1/comments').reply(201, { id: 5 });
    expect(await github.writer(INSTALLATION).createComment(REPO, 1, 'Hello')).toEqual({ id: 5 });
    expect(requests.map(({ method, body }) => [method, body])).toEqual([
      ['POST', { body: 'Hello' }],
      ['POST', { body: 'Hello' }],
    ]);
    expect(requests[1]?.headers.authorization).toBe('token ghs_secret');
  });

  it.each([
    ['to another host', 'https://elsewhere.example/repositories/7'],
    ['in a circle', '/api/v3/repos/acme/shop/issues/1/comments'],
  ])('does not count as done if it leads %s', async (_, location) => {
    const { rest, github, requests } = start();
    rest
      .post(COMMENT)
      .times(9)
      .reply(...leads(307, location));
    nock('https://elsewhere.example').post('/repositories/7').reply(201, { id: 5 });
    const writing = github.writer(INSTALLATION).createComment(REPO, 1, 'Hello');
    await expect(writing).rejects.toMatchObject({ kind: 'unavailable' });
    expect(requests.length).toBeLessThanOrEqual(4);
  });
});

describe('a write that is answered with a page of HTML and 200', () => {
  type Write = (writer: GitHubWriter) => Promise<unknown>;

  it.each<[string, 'patch' | 'post', string, Write]>([
    ['an update of a comment', 'patch', 'issues/comments/5', (to) => to.updateComment(REPO, 5, 'x')],
    ['a label', 'post', 'issues/1/labels', (to) => to.label(REPO, 1, ['x'])],
    ['a reaction', 'post', 'issues/comments/5/reactions', (to) => to.react(REPO, 5, 'eyes')],
  ])('is not done: %s', async (_, method, path, write) => {
    const { rest, github } = start();
    const html = { 'content-type': 'text/html' };
    rest[method](`${REPOSITORY}/${path}`).reply(200, '<html>Unicorn!</html>', html);
    await expect(write(github.writer(INSTALLATION))).rejects.toMatchObject({
      kind: 'unavailable',
      status: 200,
    });
  });
});
