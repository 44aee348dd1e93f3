/**
 * Each guide is followed from top to bottom by a shell, in the home of somebody who has a checkout of Countersign, a checkout of
 * `acme/shop`, and GitHub's command line.
 *
 * @module-tag slow
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, test } from 'vitest';
import { startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config/config.ts';
import { WEBHOOK_PATH } from '../../src/config/webhook-path.ts';
import { silentLog } from '../../src/core/log.ts';
import { appEnvironment } from '../support/app-environment.ts';
import { type GitHubStandIn, startGitHub } from '../support/github/stand-in.ts';
import { writeMigratedDatabase } from '../support/migrated-database.ts';
import { startStubModel } from '../support/model/stub.ts';
import { until } from '../support/until.ts';
import { blocksOf, follow, missingLine, type Newcomer, settleIn } from './guide.ts';

const FOLDER = fileURLToPath(new URL('../../docs/guides', import.meta.url));
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
const guides = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.md') && name !== 'README.md')
  .map((name) => ({ name, blocks: blocksOf(read(name)) }));

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

/** What one guide needs in addition. */
interface Also {
  token?: string;
  settings?: Record<string, string>;
  addresses?: Record<string, string>;
  isAppStopped?: true;
}
const also: Record<string, (github: GitHubStandIn) => Promise<Also>> = {
  'protect-a-branch.md': async (github) => ({
    token: github.adminToken('acme'),
    addresses: { '123456': String(github.app.id) },
  }),
  'github-enterprise-server.md': async (github) => ({
    addresses: { 'https://github.example.com/api/v3': github.url, 'https://github.example.com': github.url },
  }),
  'use-a-model.md': async () => {
    const model = await startStubModel();
    ended.push(() => model.stop());
    model.answers({ text: JSON.stringify({ summary: 'Nothing stands out.', findings: [] }) });
    return { settings: { COUNTERSIGN_MODEL_BASE_URL: model.url } };
  },
  'upgrade-and-back-up.md': async () => ({ isAppStopped: true }),
};

async function newcomerFor(name: string): Promise<Newcomer> {
  const github = await startGitHub();
  ended.push(() => github.stop());
  github.addOrganization('acme');
  for (const login of ['mia', 'max', 'ada', 'dora', 'dan']) github.addUser(login);
  github.addRepository({
    owner: 'acme',
    name: 'shop',
    files: { 'README.md': '# Shop\n', 'src/index.ts': 'export const one = 1;\n' },
    collaborators: { mia: 'maintain', max: 'admin', ada: 'write', dora: 'write', dan: 'write' },
  });
  github.addRepository({ owner: 'acme', name: '.github', files: { 'README.md': '# Acme\n' } });
  github.addTeam('acme', 'dbas', ['dora', 'dan']);
  github.installApp('acme');

  const home = mkdtempSync(join(tmpdir(), 'countersign-test-'));
  ended.push(() => rmSync(home, { recursive: true, force: true }));
  const checkout = join(home, 'countersign');
  mkdirSync(join(checkout, 'data/artifacts'), { recursive: true });
  await writeMigratedDatabase(join(checkout, 'data/countersign.db'));
  const {
    NODE_COMPILE_CACHE: _,
    PATH: __,
    ...settings
  } = appEnvironment(github, {
    databaseUrl: `sqlite:${checkout}/data/countersign.db`,
    artifactsUrl: `file:${checkout}/data/artifacts`,
  });

  // The app runs, and asks about two pull requests of which one has a migration.
  const read = readConfig(settings);
  if (!read.ok || read.config.kind !== 'app') throw new Error('The settings register no App.');
  const app = await startApp(read.config, silentLog, { intake: 'here' });
  const { origin, port } = new URL(app.url);
  github.setWebhookUrl(`${origin}${WEBHOOK_PATH}`);
  const changes: Record<string, Record<string, string>> = {
    tidy: { 'src/sum.js': 'export const sum = (a, b) => a + b;\n' },
    orders: { 'db/migrations/0001-add-note.sql': 'ALTER TABLE orders ADD COLUMN note text;\n' },
  };
  for (const [branch, files] of Object.entries(changes)) {
    const title = `Change ${branch}`;
    const { headSha } = await github.openPullRequest({
      repo: 'acme/shop',
      author: 'ada',
      branch,
      title,
      files,
    });
    for (const check of ['test', 'lint'])
      await github.reportCheck('acme/shop', headSha, {
        name: check,
        status: 'completed',
        conclusion: 'success',
      });
  }
  await until('both questions', () => ([1, 2].every((number) => isAsked(github, number)) ? true : undefined));
  const more = await also[name]?.(github);
  if (more?.isAppStopped) await app.stop();
  else ended.push(() => app.stop());

  const newcomer: Newcomer = {
    home,
    token: more?.token ?? github.readToken('acme'),
    ...(more?.addresses && { addresses: more.addresses }),
    settings: { ...settings, PORT: port, PUBLIC_URL: origin, ...more?.settings },
  };
  settleIn(newcomer);
  return newcomer;
}

const isAsked = (github: GitHubStandIn, number: number): boolean =>
  github.comments('acme/shop', number).some(({ body }) => body.includes('countersign:question'));

describe('the index of the guides', () => {
  it('names each guide', () => {
    for (const { name } of guides) expect(read('README.md')).toContain(`](${name})`);
  });
});

describe('a newcomer', () => {
  test.each(guides)('gets through $name from top to bottom', async ({ name, blocks }) => {
    const { code, printed, all } = await follow(blocks, await newcomerFor(name));
    expect(code, all).toBe(0);
    expect(printed.length).toBeGreaterThan(0);
    let commands = -1;
    for (const block of blocks) {
      if (block.kind === 'commands') commands += 1;
      if (block.kind === 'printed')
        expect(missingLine(printed[commands] ?? '', block.text), printed[commands]).toBeUndefined();
    }
  });
});

test('what the guides do not run needs a browser, Docker, another machine, PostgreSQL or a new version', () => {
  expect(
    guides.flatMap(({ name, blocks }) =>
      blocks.flatMap((block) => (block.kind === 'not_run' ? [`${name}: ${block.text.trim()}`] : [])),
    ),
  ).toMatchInlineSnapshot(`
    [
      "github-enterprise-server.md: export NODE_EXTRA_CA_CERTS=/etc/ssl/certs/acme-root.pem",
      "github-enterprise-server.md: npm start",
      "install-for-an-organisation.md: npm ci
    npm start",
      "install-for-an-organisation.md: ssh -L 3000:127.0.0.1:3000 you@server",
      "install-for-an-organisation.md: npm start",
      "upgrade-and-back-up.md: git pull
    npm ci",
      "upgrade-and-back-up.md: pg_dump --format=custom --file=countersign.dump "$DATABASE_URL"",
      "upgrade-and-back-up.md: pg_restore --no-owner --exit-on-error --single-transaction --dbname="$DATABASE_URL" countersign.dump",
    ]
  `);
});
