import type { ServerResponse } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { type Answer, INSTALLATION, NOW, REPO, startFake } from './fake-server.ts';

const REPOSITORY = 'GET /repos/acme/shop';
const COMMENT = 'POST /repos/acme/shop/issues/1/comments';
const repository = { id: 7, default_branch: 'main' };
const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);
const hour = (remaining: number) => ({
  'x-ratelimit-limit': '5000',
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-reset': String(at(600).getTime() / 1_000),
});

/** The adapter with a clock that a test can move. */
async function start() {
  let now = NOW;
  const metrics = { answered: vi.fn(), heldBack: vi.fn() };
  const fake = await startFake({ clock: { now: () => now }, metrics });
  return {
    ...fake,
    fake,
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
    const { fake, github, requests, metrics, moveTo } = await start();
    fake.on(REPOSITORY, {
      status: 429,
      headers,
      body: { message: 'You have exceeded a secondary rate limit.' },
    });
    await expect(github.reader(INSTALLATION).repository(REPO)).rejects.toMatchObject({
      kind: 'rate_limited',
    });
    fake.on(REPOSITORY, { body: repository });
    fake.on(COMMENT, { status: 201, body: { id: 1 } });

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
    const { fake, github } = await start();
    fake.on('POST /app/installations/100/access_tokens', {
      status: 201,
      body: { token: 'other', expires_at: '2099-01-01T00:00:00Z', permissions: {} },
    });
    fake.on(REPOSITORY, { status: 429, body: { message: 'slow down' } });
    await expect(github.reader(INSTALLATION).repository(REPO)).rejects.toThrow();
    fake.on(REPOSITORY, { body: repository });
    await expect(github.reader(100).repository(REPO)).resolves.toMatchObject({ id: 7 });
  });

  it('stop the least urgent requests first, and say when they may continue', async () => {
    const { fake, github, requests } = await start();
    const read = (urgency: 'person' | 'run' | 'background') =>
      github
        .reader(INSTALLATION, urgency)
        .repository(REPO)
        .then(
          () => 'read',
          (error: { retryAt?: Date }) => error.retryAt,
        );
    fake.on(REPOSITORY, { body: repository, headers: hour(900) });
    expect(await read('background')).toBe('read');
    expect(await read('background')).toEqual(at(600));
    fake.on(REPOSITORY, { body: repository, headers: hour(200) });
    expect(await read('run')).toBe('read');
    expect(await read('run')).toEqual(at(600));
    expect(await read('person')).toBe('read');
    expect(requests).toHaveLength(3);
    const status = github.rateLimits().find(({ installationId }) => installationId === INSTALLATION);
    expect(status?.hour).toEqual({ limit: 5_000, remaining: 200, resetAt: at(600) });
  });

  it('let the least urgent requests confirm what they already know', async () => {
    const { fake, github, requests } = await start();
    fake.on(
      REPOSITORY,
      ({ headers }): Answer =>
        headers['if-none-match'] === undefined
          ? { body: repository, headers: { etag: '"one"', ...hour(10) } }
          : { status: 304, headers: hour(10) },
    );
    const reader = github.reader(INSTALLATION, 'background');
    await reader.repository(REPO);
    await expect(reader.repository(REPO)).resolves.toMatchObject({ id: 7 });
    expect(requests).toHaveLength(2);
    await expect(reader.pullRequest(REPO, 1)).rejects.toMatchObject({ kind: 'rate_limited' });
    expect(requests).toHaveLength(2);
  });

  it('hold for a hundred requests at once: at most twenty are under way', async () => {
    const { fake, github } = await start();
    const open = new Set<ServerResponse>();
    let most = 0;
    fake.on(REPOSITORY, (_, response: ServerResponse) => {
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
    const reader = github.reader(INSTALLATION, 'person');
    await Promise.all(Array.from({ length: 100 }, () => reader.repository(REPO)));
    expect(most).toBe(20);
  });
});

describe('a write that GitHub redirects to a renamed repository', () => {
  const leads = (status: number, location: string) => ({ status, headers: { location }, body: {} });

  it.each([301, 302, 307, 308])('with status %i arrives there unchanged', async (status) => {
    const { fake, github, requests } = await start();
    fake.on(COMMENT, leads(status, '/api/v3/repositories/7/issues/1/comments'));
    fake.on('POST /repositories/7/issues/1/comments', { status: 201, body: { id: 5 } });
    expect(await github.writer(INSTALLATION).createComment(REPO, 1, 'Hello')).toEqual({ id: 5 });
    expect(requests.map(({ method, body }) => [method, body])).toEqual([
      ['POST', { body: 'Hello' }],
      ['POST', { body: 'Hello' }],
    ]);
    expect(requests[1]?.headers.authorization).toBe('token ghs_secret');
  });

  it.each([
    ['to another host', 'https://elsewhere.example/comments'],
    ['in a circle', '/api/v3/repos/acme/shop/issues/1/comments'],
  ])('does not count as done if it leads %s', async (_, location) => {
    const { fake, github, requests } = await start();
    fake.on(COMMENT, leads(307, location));
    const writing = github.writer(INSTALLATION).createComment(REPO, 1, 'Hello');
    await expect(writing).rejects.toMatchObject({ kind: 'unavailable' });
    expect(requests.length).toBeLessThanOrEqual(4);
  });
});

describe('a write that is answered with a page of HTML and 200', () => {
  const page = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>Unicorn!</html>' };

  it.each([
    ['an update of a comment', 'PATCH /repos/acme/shop/issues/comments/5'],
    ['a label', 'POST /repos/acme/shop/issues/1/labels'],
    ['a reaction', 'POST /repos/acme/shop/issues/comments/5/reactions'],
  ])('is not done: %s', async (_, route) => {
    const { fake, github } = await start();
    fake.on(route, page);
    const writer = github.writer(INSTALLATION);
    const writes: Record<string, () => Promise<unknown>> = {
      PATCH: () => writer.updateComment(REPO, 5, 'x'),
      labels: () => writer.label(REPO, 1, ['x']),
      reactions: () => writer.react(REPO, 5, 'eyes'),
    };
    const write = writes[route.split(' ')[0] ?? ''] ?? writes[route.split('/').at(-1) ?? ''];
    await expect(write?.()).rejects.toMatchObject({ kind: 'unavailable' });
  });
});
