import { describe, expect, it } from 'vitest';
import { GitHubError } from '../../../src/ports/github.ts';
import { INSTALLATION, REPO } from './fake-server.ts';
import { givenToken, scriptGitHub, TOKEN } from './scripted.ts';

const COMMENTS = '/repos/acme/shop/issues/7/comments';
const NOT_SENT = { kind: 'unavailable', status: 0, message: expect.stringContaining('not sent') };
const comment = { id: 1, node_id: 'IC_1', user: null };

/** The adapter of a process that may write until `stop` is called. */
function stopping(options: { givesTokens?: boolean } = {}) {
  let mayWrite = true;
  const stop = () => {
    mayWrite = false;
  };
  return { ...scriptGitHub({ ...options, mayWrite: () => mayWrite }), stop };
}

describe('a write of a process that another one may have succeeded', () => {
  it('is not sent, also if that came about while it waited for its token', async () => {
    const { github, rest, requests, stop, tokensAsked } = stopping({ givesTokens: false });
    rest.post(TOKEN).reply(201, () => {
      stop();
      return givenToken('ghs_secret');
    });
    const writer = github.writer(INSTALLATION);
    const error = await writer.createComment(REPO, 7, 'Merge?').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(GitHubError);
    expect(error).toMatchObject(NOT_SENT);
    expect(tokensAsked()).toBe(1);
    expect(requests).toEqual([]);
  });

  it('is not sent to where GitHub redirects it', async () => {
    const { github, rest, requests, stop } = stopping();
    rest.post(COMMENTS).reply(307, () => stop(), {
      location: 'https://github.example/api/v3/repositories/7/issues/7/comments',
    });
    await expect(github.writer(INSTALLATION).createComment(REPO, 7, 'Merge?')).rejects.toMatchObject(
      NOT_SENT,
    );
    expect(requests.map(({ path }) => path)).toEqual([COMMENTS]);
  });

  it('is not sent as a mutation of GraphQL', async () => {
    const { github, requests, stop } = stopping();
    stop();
    await expect(github.writer(INSTALLATION).minimizeComment('IC_1')).rejects.toMatchObject(NOT_SENT);
    expect(requests).toEqual([]);
  });

  it('is sent while there is time, and its process reads all the time, also by GraphQL', async () => {
    const { github, rest, graphql, requests, stop } = stopping();
    rest.post(COMMENTS).reply(201, comment);
    await expect(github.writer(INSTALLATION).createComment(REPO, 7, 'Merge?')).resolves.toMatchObject({
      id: 1,
    });
    stop();
    rest.get('/repos/acme/shop').reply(200, { id: 7, default_branch: 'main' });
    graphql().reply(200, { data: { nodes: [null] } });
    const reader = github.reader(INSTALLATION);
    await expect(reader.repository(REPO)).resolves.toMatchObject({ id: 7 });
    await expect(reader.polledComments(['IC_1'])).resolves.toEqual([undefined]);
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `POST ${COMMENTS}`,
      'GET /repos/acme/shop',
      'POST /graphql',
    ]);
  });
});
