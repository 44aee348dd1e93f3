import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createTools } from '../../../src/cli-tools.ts';
import { stepPolicyJsonSchema } from '../../../src/messages/cli/policy.ts';

import { type Harness, REPO, startHarness } from '../../support/harness.ts';
import { answered } from './support.ts';

const CHAIN = `name: pr-review
trigger: { event: pr.opened }
steps:
  - { id: note, action: gh-label, with: { labels: [seen] } }
  - { id: merge, action: gh-merge, requires_approval: true }
`;
const ON_ISSUES = `name: triage
trigger: { event: issue.created }
steps: [{ id: hello, action: gh-comment, with: { body: Hello } }]
`;

let harness: Harness;
let member: { number: number; headSha: string };
let outsider: { number: number; headSha: string };

beforeAll(async () => {
  harness = await startHarness({
    files: {
      '.github/countersign/chains/pr-review.yaml': CHAIN,
      '.github/countersign/chains/triage.yaml': ON_ISSUES,
    },
  });
  const { github } = harness;
  const title = 'Change';
  const files = { 'docs/page.txt': 'A page.\n' };
  member = await github.openPullRequest({ repo: REPO, author: 'ada', branch: 'own', title, files });
  // One after the other, so that their runs have the expected ids.
  await harness.settle();
  outsider = await github.openPullRequest({
    repo: REPO,
    author: 'otto',
    fork: 'otto/app',
    branch: 'theirs',
    title,
    files,
  });
  await harness.settle();
});
afterAll(() => harness.stop());

function environment(more: Record<string, string> = {}): Record<string, string> {
  const { appId, privateKey, webhookSecret, githubApiUrl, databaseUrl } = harness.config;
  return {
    APP_ID: String(appId),
    PRIVATE_KEY: privateKey,
    WEBHOOK_SECRET: webhookSecret,
    GITHUB_API_URL: githubApiUrl,
    DATABASE_URL: databaseUrl,
    ...more,
  };
}

/** The real command line, in this process. */
async function countersign(line: string, env = environment()) {
  return answered(line.split(' '), {
    cwd: '/nowhere',
    clock: harness.clock,
    tools: createTools(env),
  });
}

/** In the form that a snapshot can hold. */
const readable = (text: string) =>
  text.replaceAll(member.headSha.slice(0, 7), '<member>').replaceAll(outsider.headSha.slice(0, 7), '<fork>');

async function runOf(number: number): Promise<string> {
  const [run] = await harness.app.storage.read.runs.list({ pullRequest: number, limit: 1 });
  return run?.id ?? '';
}

const simulatedSchema = z.strictObject({
  repository: z.string(),
  pull_request: z.int(),
  head_sha: z.string(),
  actor: z.string().nullable(),
  chains: z.array(z.strictObject({ chain: z.string(), steps: z.array(stepPolicyJsonSchema) })),
});

/** Chain, step, trust and verdict of each step of a simulation. */
async function simulate(options: string): Promise<string[]> {
  const { code, out, err } = await countersign(`policy simulate --repo ${REPO} --json ${options}`);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return simulatedSchema
    .parse(JSON.parse(out))
    .chains.flatMap(({ chain, steps }) =>
      steps.map(({ id, trust, verdict }) => `${chain} ${id}: ${trust}, ${verdict}`),
    );
}

describe('policy explain', () => {
  it('says for each step what it needs, what the run has, and the decision', async () => {
    const { code, out, err } = await countersign(`policy explain ${await runOf(outsider.number)}`);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(readable(out)).toMatchInlineSnapshot(`
      "octo/app#2 at <fork>, chain pr-review, run run_2

      STEP   CAPABILITY  NEEDS       HAS      CONFIRMATION  CHANGES GITHUB  DECISION
      note   gh-label    sandbox     sandbox  none          yes             allowed
      merge  gh-merge    privileged  sandbox  countersign   yes             asks first

      note:
      ✔ gh-label is allowed
        ✔ it needs sandbox trust; this run has sandbox
          ✘ its head is in another repository, otto/app
          ✘ otto, who opened the pull request, is no member or collaborator (read access)
          ✘ nobody fired it by hand
          ✘ this step is not countersigned
        ✔ nobody has to confirm it

      merge:
      … gh-merge is allowed once somebody confirms it
        … it needs privileged trust, which a countersign for this head gives
          ✘ its head is in another repository, otto/app
          ✘ otto, who opened the pull request, is no member or collaborator (read access)
          ✘ nobody fired it by hand
          ✘ this step is not countersigned
        … it must be countersigned first
      "
    `);
  });

  it('prints the same as JSON', async () => {
    const { out } = await countersign(`policy explain ${await runOf(member.number)} --json`);
    const { steps, ...run } = JSON.parse(out.replaceAll(member.headSha, '<head>'));
    expect(run).toEqual({
      run_id: await runOf(member.number),
      chain: 'pr-review',
      repository: REPO,
      pull_request: member.number,
      head_sha: '<head>',
    });
    const [, merge] = z.array(stepPolicyJsonSchema).parse(steps);
    expect(merge).toMatchInlineSnapshot(`
      {
        "asks_first": true,
        "capability": {
          "confirmation": "person",
          "minimum_trust": "privileged",
          "name": "gh-merge",
          "side_effects": true,
        },
        "id": "merge",
        "index": 1,
        "trust": "standard",
        "verdict": "needs_confirmation",
        "why": {
          "evidence": [],
          "reasons": [
            {
              "evidence": [],
              "reasons": [
                {
                  "evidence": [],
                  "reasons": [],
                  "status": "met",
                  "summary": "its head is in octo/app itself",
                },
                {
                  "evidence": [],
                  "reasons": [],
                  "status": "met",
                  "summary": "ada, who opened the pull request, belongs to the repository (COLLABORATOR)",
                },
                {
                  "evidence": [],
                  "reasons": [],
                  "status": "unmet",
                  "summary": "nobody fired it by hand",
                },
                {
                  "evidence": [],
                  "reasons": [],
                  "status": "unmet",
                  "summary": "this step is not countersigned",
                },
              ],
              "status": "pending",
              "summary": "it needs privileged trust, which a countersign for this head gives",
            },
            {
              "evidence": [],
              "reasons": [],
              "status": "pending",
              "summary": "it must be countersigned first",
            },
          ],
          "status": "pending",
          "summary": "gh-merge is allowed once somebody confirms it",
        },
      }
    `);
  });

  it('says that a merged pull request was countersigned for its head', { tags: 'slow' }, async () => {
    const { github } = harness;
    const files = { 'docs/other.txt': 'A page.\n' };
    const { number } = await github.openPullRequest({
      repo: REPO,
      author: 'ada',
      branch: 'merged',
      title: 'Merge me',
      files,
    });
    await harness.settle();
    const question = github.comments(REPO, number).find(({ body }) => body.includes('countersign:question'));
    await github.react(REPO, question?.id ?? 0, 'mia', 'rocket');
    await harness.advance(6_000);
    const { out } = await countersign(`policy explain ${await runOf(number)} --json`);
    const [note, merge] = z.array(stepPolicyJsonSchema).parse(JSON.parse(out).steps);
    expect([note?.trust, merge?.trust, merge?.verdict]).toEqual(['standard', 'privileged', 'allowed']);
  });

  it('fails for a run that does not exist', async () => {
    expect(await countersign('policy explain run_none')).toMatchObject({ code: 1, out: '' });
  });
});

describe('policy simulate', () => {
  it('accepts the command line that docs/policy.md shows', async () => {
    const page = readFileSync(new URL('../../../docs/policy.md', import.meta.url), 'utf8');
    const [, shown = ''] = /^ {4}countersign (policy simulate .+)$/m.exec(page) ?? [];
    const line = shown.replace('acme/shop', REPO).replace('--pr 7', `--pr ${member.number}`);
    expect(line).toContain(REPO);
    expect(await countersign(line)).toMatchObject({ code: 0, err: '' });
  });

  it('says what the pull request’s chains could do when their triggers start them', async () => {
    expect(await simulate(`--pr ${outsider.number}`)).toEqual([
      'pr-review note: sandbox, allowed',
      'pr-review merge: sandbox, needs_confirmation',
    ]);
  });

  it.each([
    ['a maintainer', 'mia', 'elevated', 'standard'],
    ['an admin', 'max', 'elevated', 'standard'],
    ['a writer', 'will', 'standard', 'sandbox'],
    ['somebody from outside', 'otto', 'standard', 'sandbox'],
    ['an unknown account', 'zoe', 'standard', 'sandbox'],
  ])('says for every chain what it could do if %s fired it', async (_, actor, ofMember, ofOutsider) => {
    const levels = async (number: number) => simulate(`--pr ${number} --actor ${actor}`);
    expect(await levels(member.number)).toEqual([
      `pr-review note: ${ofMember}, allowed`,
      `pr-review merge: ${ofMember}, needs_confirmation`,
      `triage hello: ${ofMember}, allowed`,
    ]);
    expect((await levels(outsider.number))[0]).toBe(`pr-review note: ${ofOutsider}, allowed`);
  });

  it('finds the lowest trust for a head that is not the newest', async () => {
    const other = 'c'.repeat(40);
    expect(await simulate(`--pr ${member.number} --actor mia --head ${other}`)).toContain(
      'pr-review note: sandbox, allowed',
    );
    const newest = member.headSha.slice(0, 12);
    expect(await simulate(`--pr ${member.number} --actor mia --head ${newest}`)).toContain(
      'pr-review note: elevated, allowed',
    );
  });

  it('prints it as text', async () => {
    const { out } = await countersign(`policy simulate --repo ${REPO} --pr ${outsider.number} --actor mia`);
    expect(readable(out)).toMatchInlineSnapshot(`
      "octo/app#2 at <fork>, fired by mia; nothing was done.

      Chain pr-review

      STEP   CAPABILITY  NEEDS       HAS       CONFIRMATION  CHANGES GITHUB  DECISION
      note   gh-label    sandbox     standard  none          yes             allowed
      merge  gh-merge    privileged  standard  countersign   yes             asks first

      note:
      ✔ gh-label is allowed
        ✔ it needs sandbox trust; this run has standard
          ✘ its head is in another repository, otto/app
          ✘ otto, who opened the pull request, is no member or collaborator (read access)
          ✔ mia, who fired it, has maintain access
          ✘ this step is not countersigned
        ✔ nobody has to confirm it

      merge:
      … gh-merge is allowed once somebody confirms it
        … it needs privileged trust, which a countersign for this head gives
          ✘ its head is in another repository, otto/app
          ✘ otto, who opened the pull request, is no member or collaborator (read access)
          ✔ mia, who fired it, has maintain access
          ✘ this step is not countersigned
        … it must be countersigned first

      Chain triage

      STEP   CAPABILITY  NEEDS    HAS       CONFIRMATION  CHANGES GITHUB  DECISION
      hello  gh-comment  sandbox  standard  none          yes             allowed

      hello:
      ✔ gh-comment is allowed
        ✔ it needs sandbox trust; this run has standard
          ✘ its head is in another repository, otto/app
          ✘ otto, who opened the pull request, is no member or collaborator (read access)
          ✔ mia, who fired it, has maintain access
          ✘ this step is not countersigned
        ✔ nobody has to confirm it
      "
    `);
  });

  it('fails with a sentence for a pull request that does not exist', async () => {
    expect(await countersign(`policy simulate --repo ${REPO} --pr 999`)).toEqual({
      code: 1,
      out: '',
      err: 'GitHub shows the app no pull request octo/app#999.\n',
    });
  });

  it('fails for a repository on which the App is not installed', async () => {
    const { code, err } = await countersign('policy simulate --repo octo/nothing --pr 1');
    expect(code).toBe(1);
    expect(err).toContain('The App is not installed on octo/nothing');
  });
});

/** Every row of every table. */
function rows(): unknown {
  const db = new BetterSqlite3(harness.config.databaseUrl.slice('sqlite:'.length), { readonly: true });
  const tables = db
    .prepare<[], { name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
    .all();
  const all = Object.fromEntries(
    tables.map(({ name }) => [name, db.prepare(`SELECT * FROM "${name}"`).all()]),
  );
  db.close();
  return all;
}

describe('both commands', () => {
  it('write no row, and nothing to GitHub', async () => {
    const lines = [
      `policy explain ${await runOf(member.number)}`,
      `policy simulate --repo ${REPO} --pr ${outsider.number} --actor mia`,
    ];
    const before = rows();
    const written: string[] = [];
    let read = 0;
    harness.github.onRequest(({ method, path }) => {
      if (method === 'GET') read += 1;
      else written.push(`${method} ${path}`);
    });
    for (const line of lines) expect(await countersign(line)).toMatchObject({ code: 0 });
    expect(read).toBeGreaterThan(3);
    // The request for a read-only token is the only other method.
    expect(written.filter((request) => !/^POST .*\/access_tokens$/.test(request))).toEqual([]);
    expect(rows()).toEqual(before);
  });

  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  it.each([
    [
      'without the App’s settings',
      { APP_ID: '', PRIVATE_KEY: '', WEBHOOK_SECRET: '' },
      'config.invalid',
      'No GitHub App is registered here',
    ],
    ['with half of them', { PRIVATE_KEY: '' }, 'config.invalid', 'PRIVATE_KEY is missing'],
    ['with the key of another App', { PRIVATE_KEY: privateKey }, 'cli.github', 'GitHub cannot be asked'],
  ])('say why they cannot ask GitHub %s', async (_, env, code, message) => {
    for (const line of [
      `policy explain ${await runOf(member.number)}`,
      `policy simulate --repo ${REPO} --pr ${member.number}`,
    ]) {
      const ended = await countersign(`${line} --json`, environment(env));
      expect(ended).toMatchObject({ code: 1, out: '' });
      expect(JSON.parse(ended.err).error).toEqual({ code, message: expect.stringContaining(message) });
    }
  });

  it.each([
    ['simulate --pr 1', '--repo'],
    ['simulate --repo octo/app', '--pr'],
    ['simulate --repo octo/app --pr 1 --actor not/a/login', '--actor'],
    ['simulate --repo octo/app --pr 1 --head HEAD', '--head'],
    ['explain', 'run'],
  ])('refuse %s and say what is wrong', async (line, what) => {
    const { code, err } = await countersign(`policy ${line}`);
    expect(code).toBe(2);
    expect(err).toContain(what);
  });
});
