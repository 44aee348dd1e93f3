import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { expect, it } from 'vitest';
import { startGitHub } from '../support/github/stand-in.ts';
import { AT, appClientOf, clientOf, REPO, startWorld } from './support.ts';

function jwt(key: string, claims: object, alg = 'RS256'): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg, typ: 'JWT' })}.${part(claims)}`;
  const signature =
    alg === 'RS256'
      ? sign('RSA-SHA256', Buffer.from(text), key)
      : createHmac('sha256', key).update(text).digest();
  return `${text}.${signature.toString('base64url')}`;
}

const seconds = (): number => Math.floor(Date.now() / 1000);

it('several stand-ins run side by side', async () => {
  const [one, other] = await Promise.all([startGitHub(), startGitHub()]);
  expect(one.url).not.toBe(other.url);
  await Promise.all([one.stop(), other.stop()]);
});

it('the app reads about itself with its JWT', async () => {
  const { github, installation } = await startWorld();
  const { data } = await appClientOf(github).apps.getAuthenticated();
  expect(data).toMatchObject({ slug: 'countersign', id: github.app.id });
  const found = await appClientOf(github).apps.getRepoInstallation(AT);
  expect(found.data.id).toBe(installation);
});

it('a token limited to reading cannot write', async () => {
  const { github, installation } = await startWorld();
  const { data } = await appClientOf(github).apps.createInstallationAccessToken({
    installation_id: installation,
    permissions: { issues: 'read' },
  });
  const answer = await fetch(`${github.url}/repos/${REPO}/issues`, {
    method: 'POST',
    headers: { authorization: `token ${data.token}` },
    body: JSON.stringify({ title: 'x' }),
  });
  expect(answer.status).toBe(403);
});

it('a token for more than the app may do is refused', async () => {
  const { github, installation } = await startWorld({ permissions: { metadata: 'read', issues: 'read' } });
  const call = appClientOf(github).apps.createInstallationAccessToken({
    installation_id: installation,
    permissions: { issues: 'write' },
  });
  await expect(call).rejects.toMatchObject({ status: 422 });
});

it.each([
  ['an unknown token', () => 'ghs_unknown', 401],
  [
    'a JWT of another key',
    () => {
      const { privateKey } = generateKeyPairSync('rsa', {
        modulusLength: 1_024,
        publicKeyEncoding: { type: 'spki', format: 'pem' },
        privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
      });
      return jwt(privateKey, { iss: '9001', iat: seconds(), exp: seconds() + 60 });
    },
    401,
  ],
  [
    'an expired JWT',
    (key: string) => jwt(key, { iss: '9001', iat: seconds() - 99, exp: seconds() - 1 }),
    401,
  ],
  [
    'a JWT that lives too long',
    (key: string) => jwt(key, { iss: '9001', iat: seconds(), exp: seconds() + 999 }),
    401,
  ],
  ['a JWT of another app', (key: string) => jwt(key, { iss: '1', iat: seconds(), exp: seconds() + 60 }), 404],
  [
    'a JWT with a shared secret for its signature',
    (key: string) => jwt(key, { iss: '9001', iat: seconds(), exp: seconds() + 60 }, 'HS256'),
    401,
  ],
])('%s is refused', async (_, credential, status) => {
  const { github } = await startWorld();
  const answer = await fetch(`${github.url}/app`, {
    headers: { authorization: `Bearer ${credential(github.app.privateKey)}` },
  });
  expect(answer.status).toBe(status);
});

it('the private repository of somebody else does not exist', async () => {
  const { github, octokit } = await startWorld();
  github.addRepository({ owner: 'outside', name: 'secret', private: true, files: {} });
  const call = octokit.repos.get({ owner: 'outside', repo: 'secret' });
  await expect(call).rejects.toMatchObject({ status: 404 });
});

it('the public repository of somebody else can be read, not written', async () => {
  const { github, octokit } = await startWorld();
  github.addRepository({ owner: 'outside', name: 'open', files: {} });
  const there = { owner: 'outside', repo: 'open' };
  expect((await octokit.repos.get(there)).data.full_name).toBe('outside/open');
  await expect(octokit.issues.create({ ...there, title: 'x' })).rejects.toMatchObject({ status: 403 });
});

it('an installation on chosen repositories lists only those', async () => {
  const { github } = await startWorld();
  github.addOrganization('zoo');
  github.addRepository({ owner: 'zoo', name: 'in', files: {} });
  github.addRepository({ owner: 'zoo', name: 'out', files: {} });
  const octokit = clientOf(github, github.installApp('zoo', { repositories: ['in'] }));
  const { data } = await octokit.apps.listReposAccessibleToInstallation();
  expect(data.repositories.map(({ name }) => name)).toEqual(['in']);
});

it('a removed installation loses its tokens', async () => {
  const { github, installation } = await startWorld();
  const { data } = await appClientOf(github).apps.createInstallationAccessToken({
    installation_id: installation,
  });
  // Not through octokit: it assumes replication delay for a 401 on a young token and retries for five seconds.
  const status = async () =>
    (await fetch(`${github.url}/repos/${REPO}`, { headers: { authorization: `token ${data.token}` } }))
      .status;
  expect(await status()).toBe(200);
  github.uninstallApp('acme');
  expect(await status()).toBe(401);
});
