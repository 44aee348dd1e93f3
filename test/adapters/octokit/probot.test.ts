import nock from 'nock';
import { Probot } from 'probot';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOctokitGitHub, type OctokitGitHub } from '../../../src/adapters/octokit/octokit-github.ts';
import { octokitsOfProbot } from '../../../src/adapters/octokit/probot.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { APP_ID, INSTALLATION, privateKey, REPO } from './fake-server.ts';

const API = 'https://ghes.example/api/v3';
const TOKEN = `/app/installations/${INSTALLATION}/access_tokens`;
const REPOSITORY = '/repos/acme/shop';
const COMMENT = '/repos/acme/shop/issues/comments/5';

// The other tests of this process use the network.
nock.restore();
beforeEach(() => {
  nock.activate();
  nock.disableNetConnect();
});
afterEach(() => {
  nock.cleanAll();
  nock.enableNetConnect();
  nock.restore();
});

async function sourceOfProbot() {
  const probot = new Probot({
    appId: APP_ID,
    privateKey,
    secret: 'a secret',
    baseUrl: API,
    logLevel: 'fatal',
  });
  await probot.ready();
  return octokitsOfProbot(await probot.auth());
}

async function gitHubOfProbot(): Promise<OctokitGitHub> {
  return createOctokitGitHub({ source: await sourceOfProbot(), log: silentLog, clock: systemClock });
}

const givesToken = (token: string) =>
  nock(API).post(TOKEN).reply(201, { token, expires_at: '2099-01-01T00:00:00Z', permissions: {} });

describe('GitHub through the Octokit of a Probot server', () => {
  it('is at the server’s address, as the server’s App', async () => {
    givesToken('ghs_one');
    nock(API, { reqheaders: { authorization: 'token ghs_one', 'user-agent': /^countersign\// } })
      .get(REPOSITORY)
      .reply(200, { id: 7, default_branch: 'main' });
    const github = await gitHubOfProbot();
    expect(github.appId).toBe(APP_ID);
    await expect(github.reader(INSTALLATION).repository(REPO)).resolves.toMatchObject({ id: 7 });
  });

  it.each([500, 409, 405])(
    'gets no second request after a %i, because Probot’s retries are off',
    async (status) => {
      givesToken('ghs_one');
      nock(API).patch(COMMENT).reply(status, { message: 'no' });
      const second = nock(API).patch(COMMENT).reply(200, {});
      const github = await gitHubOfProbot();
      await expect(github.writer(INSTALLATION).updateComment(REPO, 5, 'text')).rejects.toMatchObject({
        status,
      });
      expect(second.isDone()).toBe(false);
    },
  );

  it('gets writes side by side, because Probot’s throttling is off', async () => {
    givesToken('ghs_one');
    let underWay = 0;
    let most = 0;
    nock(API)
      .patch(/comments/)
      .times(3)
      .reply(200, async () => {
        most = Math.max(most, ++underWay);
        await new Promise((resolve) => setImmediate(resolve));
        underWay--;
        return {};
      });
    const writer = (await gitHubOfProbot()).writer(INSTALLATION);
    await Promise.all([1, 2, 3].map((id) => writer.updateComment(REPO, id, 'text')));
    expect(most).toBeGreaterThan(1);
  });

  it('gets a new token for each sign-in, although Probot keeps tokens', async () => {
    const source = await sourceOfProbot();
    const quiet = { debug() {}, info() {}, warn() {}, error() {} };
    const options = { userAgent: 'test', log: quiet, request: { fetch, log: quiet } };
    for (const token of ['ghs_one', 'ghs_two']) {
      givesToken(token);
      nock(API, { reqheaders: { authorization: `token ${token}` } })
        .get(REPOSITORY)
        .reply(200, {});
      await source.create(INSTALLATION, options).request(`GET ${REPOSITORY}`);
    }
    expect(nock.pendingMocks()).toEqual([]);
  });

  it('is refused if the server has a token instead of an App', async () => {
    const probot = new Probot({ githubToken: 'ghp_x', secret: 'a secret', logLevel: 'fatal' });
    await probot.ready();
    await expect(octokitsOfProbot(await probot.auth())).rejects.toThrow('works only as a GitHub App');
  });
});
