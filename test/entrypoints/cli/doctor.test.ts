import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type GitHubStandIn, type StandInOptions, startGitHub } from '../../support/github/stand-in.ts';
import { startHarness } from '../../support/harness.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { countersign, type Ended, parsed } from './support.ts';

const newFolder = temporaryFolders();
let folder: string;
beforeEach(() => {
  folder = newFolder();
});

interface Found {
  ok: boolean;
  findings: { check: string; status: string; code: string; summary: string; todo: string | null }[];
}

const foundBy = (ended: Ended) => parsed(ended) as Found;
/** The codes of what is not as it should be, but of the server, which does not run in most of these tests. */
const problemsOf = (ended: Ended) =>
  foundBy(ended)
    .findings.filter(({ status, check }) => status !== 'ok' && !['server', 'database'].includes(check))
    .map(({ code }) => code);

async function gitHub(options: StandInOptions = {}): Promise<GitHubStandIn> {
  const github = await startGitHub(options);
  onTestFinished(() => github.stop());
  github.addOrganization('octo');
  github.addRepository({ owner: 'octo', name: 'app', files: { 'README.md': '# App\n' } });
  return github;
}

const settingsFor = (github: GitHubStandIn): Record<string, string> => ({
  APP_ID: String(github.app.id),
  PRIVATE_KEY: github.app.privateKey,
  WEBHOOK_SECRET: github.app.webhookSecret,
  GITHUB_API_URL: github.url,
  DATABASE_URL: `sqlite:${join(folder, 'countersign.db')}`,
  ARTIFACTS_URL: `file:${join(folder, 'artifacts')}`,
  HOST: '127.0.0.1',
  // Nothing listens on the discard port.
  PORT: '9',
});

/** A program that answers everything alike. */
async function answering(status: number, body: string): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end(body)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const doctor = (env: Record<string, string>, ...args: string[]) =>
  countersign(['doctor', ...args, '--json'], { cwd: folder, env });

describe('countersign doctor', () => {
  it('finds nothing wrong beside a running app whose App is set up well', async () => {
    const harness = await startHarness();
    onTestFinished(() => harness.stop());
    const { github, config, app } = harness;
    await github.openPullRequest({
      repo: 'octo/app',
      author: 'ada',
      branch: 'two',
      title: 'Two',
      files: { 'a.ts': '' },
    });
    await harness.settle();
    github.requireChecks('octo/app', 'main', [{ context: 'countersign: main', app: github.app.slug }]);
    const ended = await doctor({
      ...settingsFor(github),
      DATABASE_URL: config.databaseUrl,
      PUBLIC_URL: new URL(app.url).origin,
      PORT: new URL(app.url).port,
    });

    expect(foundBy(ended).findings.filter(({ status }) => status !== 'ok')).toEqual([]);
    expect(foundBy(ended)).toMatchObject({ ok: true });
    expect(ended.code).toBe(0);
  });

  it('says which settings are wrong before it asks anybody', async () => {
    const ended = await doctor({ APP_ID: 'seven' });
    expect(foundBy(ended).findings).toMatchObject([{ code: 'settings.invalid', status: 'error' }]);
    expect(foundBy(ended).findings[0]?.summary).toContain('APP_ID must be the number of the GitHub App');
    expect(ended.code).toBe(1);
  });

  it('says that no App is registered', async () => {
    expect(problemsOf(await doctor({}))).toEqual(['settings.no_app']);
  });

  it('says that the key is of another App, and that it could not check the rest', async () => {
    const github = await gitHub();
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2_048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const ended = await doctor({ ...settingsFor(github), PRIVATE_KEY: privateKey });
    expect(problemsOf(ended)).toEqual([
      'app.key_refused',
      'permissions.not_known',
      'webhook.not_known',
      'installations.not_known',
      'protection.not_known',
      'rollout.not_known',
    ]);
    expect(ended.code).toBe(1);
  });

  it('says that GitHub cannot be reached', async () => {
    const github = await gitHub();
    const ended = await doctor({ ...settingsFor(github), GITHUB_API_URL: 'http://127.0.0.1:9' });
    expect(problemsOf(ended).slice(0, 2)).toEqual(['app.unreachable', 'clock.not_known']);
  });

  it('does not say that GitHub refuses the key if what answers is not GitHub', async () => {
    const url = await answering(200, '<html>');
    const { findings } = foundBy(await doctor({ ...settingsFor(await gitHub()), GITHUB_API_URL: url }));
    expect(findings.filter(({ check }) => ['app', 'webhook'].includes(check))).toMatchObject([
      { code: 'app.unreachable' },
      { code: 'webhook.not_known', summary: 'Not checked: GitHub does not answer as it should.' },
    ]);
  });

  it.each([
    ['another program answers', 200, '<html>', 'server.strange'],
    ['another program says that it knows no such page', 404, '{"error":"not found"}', 'server.strange'],
    ['an app answers that is not ready', 503, '{"error":"Not ready: database."}', 'server.not_ready'],
  ])('says that at the port of the app %s', async (_, status, body, code) => {
    const { port } = new URL(await answering(status, body));
    const { findings } = foundBy(await doctor({ ...settingsFor(await gitHub()), PORT: port }));
    expect(findings.at(-1)).toMatchObject({ code, status: 'error' });
  });

  it('says that the next start brings an older database up to date, and does not call it broken', {
    tags: 'slow',
  }, async () => {
    const settings = settingsFor(await gitHub());
    await countersign(['db', 'migrate'], { cwd: folder, env: settings });
    const database = new BetterSqlite3(join(folder, 'countersign.db'));
    database.exec(
      'DELETE FROM schema_migrations WHERE version = (SELECT max(version) FROM schema_migrations)',
    );
    database.close();
    const { findings } = foundBy(await doctor(settings));
    expect(findings.find(({ check }) => check === 'database')).toMatchObject({
      code: 'database.older',
      status: 'unknown',
      summary: expect.stringContaining('run countersign db migrate, or start the app'),
    });
  });

  it('looks at the repositories of the first ten installations only, however many have none', async () => {
    const github = await gitHub();
    for (let index = 0; index < 30; index++) {
      github.addOrganization(`org-${index}`);
      github.installApp(`org-${index}`);
    }
    const tokens: string[] = [];
    github.onRequest(({ path }) => path.endsWith('/access_tokens') && tokens.push(path));
    await doctor(settingsFor(github));
    expect(tokens).toHaveLength(10);
  });

  it('says how many repositories and installations it did not look at', async () => {
    const github = await gitHub();
    for (let index = 0; index < 12; index++)
      github.addRepository({ owner: 'octo', name: `app-${index}`, files: { 'README.md': '' } });
    github.installApp('octo');
    github.addOrganization('hexo');
    github.installApp('hexo');
    const { findings } = foundBy(await doctor(settingsFor(github)));
    expect(findings.filter(({ check }) => check === 'protection').at(-1)).toMatchObject({
      code: 'protection.others',
      summary: 'Not checked: 3 other repositories and those of 1 other installation; --repo checks one.',
    });
  });

  it('names the permissions and events that the App lacks, and whose owners have not accepted them', async () => {
    const github = await gitHub({ permissions: { metadata: 'read', contents: 'read' }, events: ['push'] });
    github.installApp('octo');
    const { findings } = foundBy(await doctor(settingsFor(github)));
    const lacking = findings.filter(({ code }) => code.endsWith('.lacking')).map(({ summary }) => summary);
    expect(lacking).toEqual([
      expect.stringMatching(
        /^The App lacks the permissions .*contents: write.* and the events .*pull_request/,
      ),
      expect.stringMatching(/^Not accepted by octo: the permissions .*contents: write/),
    ]);
  });

  it('says that the App is installed nowhere, and has no webhook address', async () => {
    expect(problemsOf(await doctor(settingsFor(await gitHub())))).toEqual([
      'webhook.no_address',
      'installations.none',
    ]);
  });

  it('says that GitHub signs webhooks with another secret', { tags: 'slow' }, async () => {
    const harness = await startHarness();
    onTestFinished(() => harness.stop());
    const { github } = harness;
    github.setWebhookSecret('another secret of the App');
    await github.openPullRequest({
      repo: 'octo/app',
      author: 'ada',
      branch: 'two',
      title: 'Two',
      files: { 'a.ts': '' },
    });
    await github.settle();
    expect(problemsOf(await doctor(settingsFor(github)))).toContain('webhook.secret_differs');
  });

  it('says that GitHub gets no answer, and that PUBLIC_URL is another address', async () => {
    const github = await gitHub({ webhookUrl: 'http://127.0.0.1:9/' });
    github.installApp('octo');
    await github.settle();
    const env = { ...settingsFor(github), PUBLIC_URL: 'https://bot.example' };
    expect(problemsOf(await doctor(env))).toEqual(
      expect.arrayContaining(['webhook.other_address', 'webhook.unreached']),
    );
  });

  it('warns that the merge button works without a countersign in the repository that it is asked about', async () => {
    const github = await gitHub();
    github.addRepository({ owner: 'octo', name: 'other', files: { 'README.md': '# Other\n' } });
    github.installApp('octo');
    const ended = await doctor(settingsFor(github), '--repo', 'octo/other');
    const shown = foundBy(ended).findings.filter(({ check }) => check === 'protection');
    expect(shown).toMatchObject([{ status: 'warning', code: 'protection.open' }]);
    expect(shown[0]?.summary).toContain('octo/other: main does not require the gate check');
  });

  it('says that it does not know about a repository on which the App is not installed', async () => {
    const ended = await doctor(settingsFor(await gitHub()), '--repo', 'octo/unknown');
    expect(problemsOf(ended)).toContain('protection.unreadable');
  });

  it('takes the settings from a file that it is given', async () => {
    const github = await gitHub();
    const { PRIVATE_KEY = '', ...plain } = settingsFor(github);
    const lines = Object.entries(plain).map(([name, value]) => `${name}=${value}`);
    writeFileSync(join(folder, '.env'), [...lines, `PRIVATE_KEY="${PRIVATE_KEY}"`].join('\n'));
    const { findings } = foundBy(await doctor({}, '--settings', join(folder, '.env')));
    expect(findings.slice(0, 2)).toMatchObject([{ code: 'settings.valid' }, { code: 'app.signed_in' }]);
  });

  it('never prints a secret', async () => {
    const github = await gitHub({ webhookUrl: 'http://127.0.0.1:9/' });
    github.installApp('octo');
    const ended = await countersign(['doctor'], { cwd: folder, env: settingsFor(github) });
    expect(ended.stdout).toContain('✓ app');
    expect(ended.stdout).not.toContain(github.app.webhookSecret);
    expect(ended.stdout).not.toContain('PRIVATE KEY');
  });
});
