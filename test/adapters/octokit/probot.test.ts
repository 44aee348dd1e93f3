import nock from 'nock';
import { Probot, ProbotOctokit } from 'probot';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOctokitGitHub } from '../../../src/adapters/octokit/octokit-github.ts';
import { appOfProbot } from '../../../src/adapters/octokit/probot.ts';
import { octokitsWithKey } from '../../../src/adapters/octokit/sign-in.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { APP_ID, INSTALLATION, privateKey, REPO } from './fake-server.ts';

const API = 'https://ghes.example/api/v3';

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

async function appOf(options: ConstructorParameters<typeof Probot>[0] = {}) {
  const probot = new Probot({
    appId: APP_ID,
    privateKey,
    secret: 'a secret',
    baseUrl: API,
    logLevel: 'fatal',
    ...options,
  });
  await probot.ready();
  return appOfProbot(await probot.auth());
}

describe('the App of a Probot server', () => {
  it('is who asks GitHub, at the server’s address', async () => {
    nock(API)
      .post(`/app/installations/${INSTALLATION}/access_tokens`)
      .reply(201, { token: 'ghs_one', expires_at: '2099-01-01T00:00:00Z', permissions: {} });
    nock(API, { reqheaders: { authorization: 'token ghs_one', 'user-agent': /^countersign\// } })
      .get('/repos/acme/shop')
      .reply(200, { id: 7, default_branch: 'main' });
    const { key } = await appOf();
    const github = createOctokitGitHub({ source: octokitsWithKey(key), log: silentLog, clock: systemClock });
    expect(github.appId).toBe(APP_ID);
    await expect(github.reader(INSTALLATION).repository(REPO)).resolves.toMatchObject({ id: 7 });
  });

  it('has the `fetch` of a server that was given one', async () => {
    const own: typeof fetch = async () => new Response();
    expect(await appOf({ request: { fetch: own } })).toMatchObject({ fetch: own });
    expect(await appOf()).not.toHaveProperty('fetch');
  });

  it('names the Octokit plugins that Probot does not have itself', async () => {
    expect((await appOf()).plugins).toEqual([]);
    const Octokit = ProbotOctokit.plugin(function ofTheServer() {
      return {};
    });
    expect((await appOf({ Octokit })).plugins).toEqual(['ofTheServer']);
  });

  it('is refused if the server has a token instead of an App', async () => {
    const probot = new Probot({ githubToken: 'ghp_x', secret: 'a secret', logLevel: 'fatal' });
    await probot.ready();
    await expect(appOfProbot(await probot.auth())).rejects.toThrow('works only as a GitHub App');
  });
});
