import { randomUUID } from 'node:crypto';
import BetterSqlite3 from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTools } from '../../../src/cli-tools.ts';
import { type Harness, REPO, startHarness } from '../../support/harness.ts';
import { answered } from './support.ts';

const CHAINS = '.github/countersign/chains';
const chain = (name: string, trigger: string) =>
  `name: ${name}\ntrigger: ${trigger}\nsteps: [{ action: gh-comment, with: { body: Ran } }]\n`;

const FILES = {
  '.github/countersign.yml': 'chains: [ship, picky, ping, both]\n',
  [`${CHAINS}/ship.yaml`]: chain('ship', '{ event: pr.opened }'),
  [`${CHAINS}/picky.yaml`]: chain(
    'picky',
    '[{ event: pr.opened, filter: { base: "release/*", draft: false, labels: ready } }, { schedule: every 6h }, { event: issue.created, filter: { author: mia } }]',
  ),
  [`${CHAINS}/ping.yaml`]: chain(
    'ping',
    '[{ event: pr.opened }, { event: invocation.completed, filter: { chain: ping } }]',
  ),
  [`${CHAINS}/both.yaml`]: chain(
    'both',
    '{ all_of: [{ event: pr.labeled, filter: { label: deploy } }, { event: ci.changed, filter: { check: build } }], within: 24h, key: pull_request }',
  ),
  [`${CHAINS}/broken.yaml`]: 'name: broken\ntrigger: { event: pr.opend }\nsteps: [{ skill: ci }]\n',
};

let harness: Harness;
let opened: { number: number };
beforeAll(async () => {
  harness = await startHarness({ files: FILES });
  // The app first compares all repositories with what it knows.
  await harness.advance(5_000);
  opened = await harness.github.openPullRequest({
    repo: REPO,
    author: 'ada',
    branch: 'change',
    title: 'Change',
    files: { 'docs/page.txt': 'A page.\n' },
  });
  await harness.advance(60_000);
});
afterAll(() => harness.stop());

/** The real command line, in this process, beside the app. */
function countersign(...args: string[]) {
  const { appId, privateKey, webhookSecret, githubApiUrl, databaseUrl } = harness.config;
  const env = {
    APP_ID: String(appId),
    PRIVATE_KEY: privateKey,
    WEBHOOK_SECRET: webhookSecret,
    GITHUB_API_URL: githubApiUrl,
    DATABASE_URL: databaseUrl,
  };
  return answered(args, { cwd: '/nowhere', clock: harness.clock, tools: createTools(env) });
}

async function delivery(event: string, action: string | null) {
  const all = await harness.app.storage.read.deliveries.list({ limit: 100 });
  const found = all.find((one) => one.event === event && one.action === action);
  if (!found) throw new Error(`there is no delivery of ${event} ${action}`);
  return found;
}

async function explained(name: string, id: string) {
  const { code, out, err } = await countersign('chain', 'explain', name, '--delivery', id);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out.replace(/^Delivery .*\n\n/, '').replaceAll(/run_\d+/g, '<run>');
}

describe('chain explain', () => {
  test('names the run that a delivery began, and each filter with what the event has', {
    tags: 'slow',
  }, async () => {
    const { guid } = await delivery('pull_request', 'opened');
    expect(await explained('ship', guid)).toMatchInlineSnapshot(`
      "ship fired: the delivery began the run <run>, which is completed.

      As ship and GitHub are now:
      ✔ ship fired for pr.opened of octo/app#1, and its run is there
        ✔ pr.opened
      "
    `);
    expect(await explained('picky', guid)).toMatchInlineSnapshot(`
      "As picky and GitHub are now:
      ✘ picky does not fire for pr.opened of octo/app#1: the base branch is main, and the filter wants release/*
        ✘ pr.opened
          ✘ the base branch is main, and the filter wants release/*
          ✔ the pull request is not a draft
          ✘ the labels are none, and the filter wants ready
        ✘ the schedule every 6h
          ✘ it waits for the schedule every 6h, and this is pr.opened
        ✘ issue.created
          ✘ it waits for issue.created, and this is pr.opened
      "
    `);
  });

  test('gives scripts the same facts, by the number of the delivery', async () => {
    const { id } = await delivery('pull_request', 'opened');
    const { out } = await countersign('chain', 'explain', 'picky', '--delivery', `${id}`, '--json');
    expect(JSON.parse(out)).toMatchObject({
      chain: 'picky',
      delivery: { id },
      fired: false,
      events: [
        {
          event: 'pr.opened',
          fires: false,
          reason: 'not_triggered',
          triggers: [
            {
              trigger: 'pr.opened',
              matches: false,
              checks: [
                { asks: 'event', matches: true, has: 'pr.opened', wants: 'pr.opened' },
                { asks: 'base', matches: false, has: ['main'], wants: ['release/*'] },
                { asks: 'draft', matches: true, has: false, wants: false },
                { asks: 'labels', matches: false, has: [], wants: ['ready'] },
              ],
            },
            { trigger: 'the schedule every 6h', matches: false },
            { trigger: 'issue.created', matches: false, checks: [{ asks: 'event', has: 'pr.opened' }] },
          ],
        },
      ],
    });
  });

  test('lists the firings that did not happen because chains fired each other too often', async () => {
    const { guid } = await delivery('pull_request', 'opened');
    expect(await explained('ping', guid)).toContain(
      'invocation.completed: the step gh-comment of ping starts no chain: 5 runs have started one another, and at most 5 may',
    );
    expect(await harness.app.storage.read.firings.list({ chain: 'ping', limit: 9 })).toMatchObject([
      { status: 'skipped', reason: 'too_deep', trigger: 'invocation.completed' },
    ]);
  });

  test('says that a chain has errors, is paused or does not exist', async () => {
    const { guid } = await delivery('pull_request', 'opened');
    expect(await explained('broken', guid)).toContain('pr.opend');
    const at = harness.clock.now();
    const row = { owner: 'octo', repository: 'app', definition: null, createdAt: at, updatedAt: at } as const;
    await harness.app.storage.transaction((tx) =>
      tx.chains.put({ ...row, id: 'chn_1', name: 'picky', status: 'paused' }),
    );
    expect(await explained('picky', guid)).toContain('picky was paused by the operator');
  });

  test('says why a delivery brought no event, and that no trigger waits for one', {
    tags: 'slow',
  }, async () => {
    await harness.github.comment(REPO, opened.number, 'ada', 'Nice.');
    await harness.settle();
    expect(await explained('ship', (await delivery('issue_comment', 'created')).guid)).toContain(
      'no trigger waits for this event',
    );
    expect(await explained('ship', (await delivery('check_run', 'created')).guid)).toContain(
      'ship did not fire: it is about this app’s own check run',
    );
  });

  test.each(['pull_request', 'issue_comment'])(
    'names the nearest chain for one that is not there, for a delivery %s',
    async (event) => {
      await harness.github.comment(REPO, opened.number, 'ada', 'Looks right to me.');
      await harness.settle();
      const { guid } = await delivery(event, event === 'pull_request' ? 'opened' : 'created');
      expect(await countersign('chain', 'explain', 'shp', '--delivery', guid)).toEqual({
        code: 1,
        out: '',
        err: 'There is no chain "shp": did you mean "ship"? Allowed: both, picky, ping, ship.\n',
      });
    },
  );

  test('explains firings of a chain that is gone', async () => {
    const { guid } = await delivery('pull_request', 'opened');
    const [firing] = await harness.app.storage.read.firings.list({ chain: 'ping', limit: 1 });
    if (!firing) throw new Error('there is no firing of ping');
    await harness.app.storage.transaction((tx) =>
      tx.firings.insert({ ...firing, id: 'fir_gone', chain: 'gone', pullRequest: null }),
    );
    const out = await explained('gone', guid);
    expect(out).toContain('there is no chain "gone"');
    expect(out).toContain('Firings of gone in this repository that did not happen');
  });

  test('explains a delivery that is archived', { tags: 'slow' }, async () => {
    const { guid, id } = await delivery('issue_comment', 'created');
    const { storage } = harness.app;
    const others = Array.from({ length: 128 }, () => ({
      guid: randomUUID(),
      event: 'ping',
      action: null,
      installationId: null,
      body: new TextEncoder().encode('{}'),
      receivedAt: harness.clock.now(),
      queueKey: 'ping',
    }));
    await storage.transaction((tx) => tx.deliveries.record(others));
    await harness.advance(60_000);
    const now = harness.clock.now();
    expect(await storage.transaction((tx) => tx.deliveries.archive(now, now))).toBe(true);
    const db = new BetterSqlite3(harness.config.databaseUrl.slice('sqlite:'.length), { readonly: true });
    const rows = db.prepare('SELECT 1 FROM deliveries WHERE id = ?').all(id);
    db.close();
    expect(rows).toEqual([]);
    expect(await explained('ship', guid)).toContain('no trigger waits for this event');
  });

  test('refuses a delivery that is not there', async () => {
    const { code, err } = await countersign('chain', 'explain', 'ship', '--delivery', randomUUID());
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('There is no delivery') });
  });
});

describe('run why for a pull request', () => {
  test('shows the chains that did not fire beside those that ran, and needs no run', async () => {
    const { code, out } = await countersign('run', 'why', `${REPO}#${opened.number}`);
    expect(code).toBe(0);
    expect(out.replaceAll(/run_\d+/g, '<run>')).toMatchInlineSnapshot(`
      "ping (<run>)
      ✔ every step is done; this chain merges nothing
        ✔ gh-comment: commented on #1

      ship (<run>)
      ✔ every step is done; this chain merges nothing
        ✔ gh-comment: commented on #1

      ✘ chains without a run for this pull request as it is now
        ✘ ping, apart from its runs
          ✘ 2026-03-02 09:00 UTC: the step gh-comment of ping starts no chain: 5 runs have started one another, and at most 5 may
        ✘ both waits for all_of (pr.labeled, ci.changed) within 1 d
        ✘ picky was paused by the operator on 2026-03-02 09:01 UTC, and starts no run until countersign chain resume
      "
    `);
  });
});

test('chain explain says what a composite has seen of the pull request, also for a check of its head', async () => {
  const { number, headSha } = await harness.github.openPullRequest({
    repo: REPO,
    author: 'ada',
    branch: 'deployed',
    title: 'Change',
    files: { 'docs/other.txt': 'A page.\n' },
  });
  const parts = 'it counts as a part of all_of (pr.labeled, ci.changed) within 1 d';
  await harness.github.setStatus(REPO, headSha, { context: 'build', state: 'success' });
  await harness.advance(10_000);
  const check = await explained('both', (await delivery('status', null)).guid);
  expect(check).toContain(`✘ both does not fire for ci.changed of ${REPO}: ${parts}\n`);
  expect(check).toContain(`${parts}; ci.changed happened at 2026-03-02 `);
  expect(check).toContain(' UTC, and not pr.labeled\n');
  await harness.github.addLabel(REPO, number, 'will', 'deploy');
  await harness.advance(10_000);
  const label = await explained('both', (await delivery('pull_request', 'labeled')).guid);
  expect(label).toMatch(/^both fired: the delivery began the run <run>, /);
  expect(label).toContain(`${parts}; it fired for what happened until 2026-03-02 `);
});

describe('chain fire', () => {
  test('says at once that a pull request does not exist', async () => {
    const { code, err } = await countersign('chain', 'fire', 'ship', '--repo', REPO, '--pr', '999');
    expect(code).toBe(1);
    expect(err).toMatchInlineSnapshot(`
      "Not fired: there is no pull request 999 in octo/app.
      "
    `);
  });

  test('finds a repository where nothing has run, by the installation of the App', async () => {
    harness.github.addRepository({ owner: 'octo', name: 'fresh', files: FILES });
    const answer = await countersign('chain', 'fire', 'ship', '--repo', 'octo/fresh', '--no-wait');
    expect(answer).toMatchInlineSnapshot(`
      {
        "code": 1,
        "err": "Not fired: the chain "ship" is fired for a branch, and the step "gh-comment" cannot run: gh-comment needs a pull request or an issue.
      ",
        "out": "",
      }
    `);
  });

  test('says what to do where the App is not installed', async () => {
    const { code, err } = await countersign('chain', 'fire', 'ship', '--repo', 'octo/nothing');
    expect({ code, err }).toMatchInlineSnapshot(`
      {
        "code": 1,
        "err": "The App is not installed on octo/nothing, or there is no such repository. Install it there, on the App’s page on GitHub.
      ",
      }
    `);
  });
});
