// @module-tag security
// @module-tag slow
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openBrowser, signedIn, WITH_SIGN_IN } from '../support/browser.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { studioRoutes } from '../support/studio-routes.ts';

const MINUTE = 60_000;
const HIDDEN = 'octo/hidden';
const MERGE_ONLY = `name: pr-review
trigger: { event: pr.opened }
steps:
  - id: merge
    action: gh-merge
    requires_approval: true
    with: { pr: "{{ trigger.pr_number }}" }
`;

let harness: Harness;
/** What the hidden repository has, by the names of parameters in paths. */
let hidden: Record<string, string>;
let repositoryId: number;

beforeEach(async () => {
  harness = await startHarness({ studio: { ...WITH_SIGN_IN, operators: ['max'] } });
  ({ runId: hidden, repositoryId } = await hiddenRun(true));
});
afterEach(() => harness.stop());

/** A run of a repository that only mia can see. */
async function hiddenRun(isPrivate: boolean) {
  const { id } = harness.github.addRepository({
    owner: 'octo',
    name: 'hidden',
    private: isPrivate,
    files: { '.github/countersign/chains/pr-review.yaml': MERGE_ONLY },
    collaborators: { mia: 'maintain', ada: 'write' },
  });
  const { number } = await harness.github.openPullRequest({
    repo: HIDDEN,
    author: 'ada',
    branch: 'x',
    title: 'A secret plan',
    files: { 'a.txt': '1' },
  });
  await harness.advance(10_000);
  const [run] = await harness.app.storage.read.runs.list({ repository: HIDDEN });
  if (!run) throw new Error('no run began');
  const [session] = await harness.app.storage.read.runs.sessionsOf(run.id);
  const values = { id: run.id, run: run.id, owner: 'octo', repo: 'hidden', number: String(number) };
  const [artifact] = await harness.app.storage.read.artifacts.list({ runId: run.id, limit: 1 });
  const { items } = await harness.app.storage.read.operations.deliveries({ repository: HIDDEN, limit: 1 });
  return {
    repositoryId: id,
    runId: {
      artifact: artifact?.id ?? 'art_1',
      ...values,
      session: session?.id ?? 'ses_1',
      guid: items[0]?.guid ?? '',
    },
  };
}

const routes = () => studioRoutes(harness);

/** The path with what the hidden repository has in place of its parameters; any other is unknown. */
function filled(path: string): string {
  return path
    .replace('/artifacts/:id', `/artifacts/${hidden.artifact ?? ''}`)
    .replace(/:(\w+)(\{[^}]*\})?\??/g, (_, name: string) => hidden[name] ?? 'unknown')
    .replace('*', 'x');
}

describe('every route', () => {
  test('shows nothing to somebody who did not sign in', async () => {
    const found = await routes();
    expect(found.length).toBeGreaterThan(3);
    const browser = openBrowser(harness);
    for (const { method, path } of found) {
      const answer = await browser.request(filled(path), { method });
      expect
        .soft([`${method} ${path}`, [401, 404].includes(answer.status)])
        .toEqual([`${method} ${path}`, true]);
      expect.soft(await answer.text()).not.toMatch(/octo\/(app|hidden)|secret plan/);
    }
  });

  test('hides a repository from somebody who cannot see it on GitHub', async () => {
    const browser = await signedIn(harness, 'will');
    const csrf = /name="csrf" value="([^"]+)"/.exec((await browser.open('/runs')).text)?.[1] ?? '';
    const about = {
      run: hidden.id ?? '',
      repository: String(repositoryId),
      pull: hidden.number ?? '',
      to: '/',
    };
    for (const { method, path } of await routes()) {
      const answer = await browser.request(filled(path), {
        method,
        ...(method === 'POST' && {
          body: new URLSearchParams({ csrf, ...about, verb: 'cancel', says: 'approve' }),
        }),
      });
      const isAboutHidden = path.includes(':') || method === 'POST';
      // The check of a text, and the form of a token, concern only what is in them.
      const allowed = ['/chains/check', '/account/tokens'].includes(path)
        ? [200, 422]
        : isAboutHidden
          ? [401, 404]
          : [200, 303, 401, 404];
      expect
        .soft([`${method} ${path}`, answer.status, allowed.includes(answer.status)])
        .toEqual([`${method} ${path}`, answer.status, true]);
      expect.soft(await answer.text()).not.toMatch(/octo\/hidden|secret plan/);
    }
    // The same routes show it to somebody who can.
    const mia = await signedIn(harness, 'mia');
    expect((await mia.open(`/runs/${hidden.id}`)).status).toBe(200);
  });
});

describe('what somebody sees', () => {
  test('disappears within minutes when GitHub no longer shows it to them', async () => {
    const browser = await signedIn(harness, 'mia');
    const page = `/runs/${hidden.id}`;
    expect((await browser.open(page)).status).toBe(200);
    harness.github.setPermission(HIDDEN, 'mia', 'none');
    await harness.advance(5 * MINUTE);
    expect((await browser.open(page)).status).toBe(404);
    expect((await browser.open('/runs')).text).not.toContain('octo/hidden');
  });

  test('is asked of GitHub once in five minutes', async () => {
    const browser = await signedIn(harness, 'mia');
    await browser.open('/runs');
    const before = harness.github.requests.length;
    for (let page = 0; page < 5; page++) await browser.open('/runs');
    expect(harness.github.requests.slice(before).filter(({ path }) => path.startsWith('/user'))).toEqual([]);
  });

  test.each([503, 403])('is nothing, with a plain page, while GitHub answers %i', async (status) => {
    const browser = await signedIn(harness, 'mia');
    await harness.advance(6 * MINUTE);
    const repair = harness.github.fail(({ path }) => path.startsWith('/user/installations?'), { status });
    const page = await browser.open(`/runs/${hidden.id}`);
    expect([page.status, page.text.includes('GitHub does not answer')]).toEqual([503, true]);
    expect(page.text).not.toContain('octo/hidden');
    repair();
    await harness.advance(MINUTE);
    expect((await browser.open(`/runs/${hidden.id}`)).status).toBe(200);
  });

  test('is everything that is public, to everybody, where the operator opened that', async () => {
    await harness.stop();
    harness = await startHarness({ studio: { ...WITH_SIGN_IN, isPublic: true } });
    ({ runId: hidden } = await hiddenRun(false));
    const nobody = openBrowser(harness);
    const page = `/runs/${hidden.id}`;
    expect((await nobody.open(page)).status).toBe(200);
    expect((await nobody.open(page)).text).toContain('href="/sign-in?to=');
    expect((await nobody.request('/commands', { method: 'POST' })).status).toBe(401);
    harness.github.setPrivate(HIDDEN, true);
    await harness.advance(5 * MINUTE);
    expect((await nobody.open(page)).status).toBe(404);
    const otto = await signedIn(harness, 'otto');
    expect((await otto.open(page)).status).toBe(404);
    harness.github.setPrivate(HIDDEN, false);
    await harness.advance(5 * MINUTE);
    expect((await otto.open(page)).status).toBe(200);
  });
});
