// @module-tag slow
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { gitHubForPeople } from '../../src/adapters/octokit/for-people.ts';
import { openBlobs } from '../../src/composition/blobs.ts';
import { chainTools } from '../../src/composition/chain-tools.ts';
import { dryRunProcesses } from '../../src/composition/studio/dry-run-player.ts';
import { silentLog } from '../../src/core/log.ts';
import { createDryRuns } from '../../src/entrypoints/studio/dry-runs.ts';
import { createStudio } from '../../src/entrypoints/studio/studio.ts';
import type { DryRunAsked, DryRunEnd, DryRunPlayer } from '../../src/ports/dry-runs.ts';
import { type Browser, openBrowser, post, signedIn, WITH_SIGN_IN } from '../support/browser.ts';
import { OAUTH_CLIENT } from '../support/github/oauth.ts';
import { type Harness, REPO } from '../support/harness.ts';
import { textOf } from '../support/studio.ts';
import { until } from '../support/until.ts';
import { MERGE_ONLY, open, start } from './support.ts';

const DRY_RUNS = '/chains/dry-runs';
const MINUTE = 60_000;

const GREETING = `name: greeting
trigger: { event: pr.opened }
steps:
  - id: greet
    action: gh-comment
    with: { pr: "{{ trigger.pr_number }}", body: "Welcome, {{ trigger.author }}. <!-- hidden -->" }
`;

const SHOWN: DryRunEnd = {
  kind: 'done',
  shown: {
    pullRequest: { title: 'A <b>change</b>', headSha: 'a'.repeat(40), baseRef: 'main' },
    notes: [],
    result: 'done',
    because: 'every step ended',
    steps: [],
    moreSteps: 0,
    courses: [],
    whyNot: null,
  },
};

/** A pull request with a run. */
async function scene(more: Parameters<typeof start>[0] = {}) {
  const harness = await start({ chain: MERGE_ONLY, studio: WITH_SIGN_IN, ...more });
  const { number } = await open(harness);
  await harness.advance(10_000);
  return { harness, number, on: `${REPO}#${number}` };
}

/** Studio with another player of dry runs, for people who sign in at the harness's own. */
async function studioWith(harness: Harness, play: DryRunPlayer['play']) {
  const { clock, config, app, github } = harness;
  const dryRuns = createDryRuns({ player: { play }, storage: app.storage, clock, log: silentLog });
  const studio = createStudio({
    config: WITH_SIGN_IN,
    publicUrl: undefined,
    settings: [],
    githubApiUrl: github.url,
    storage: app.storage,
    blobs: () => openBlobs(config.artifactsUrl),
    chainTools: async () => chainTools(),
    clock,
    log: silentLog,
    github: await gitHubForPeople({ ...OAUTH_CLIENT, clock, apiUrl: github.url, pagesUrl: github.url }),
    queue: { enqueue: async () => undefined },
    dryRuns,
  });
  return async (login: string) => {
    const { cookies } = await signedIn(harness, login);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const host = new URL(app.url).host;
    const get = (path: string) => studio.request(path, { headers: { cookie, host } });
    const csrf = /name="csrf" value="([^"]+)"/.exec(await (await get('/runs')).text())?.[1] ?? '';
    return {
      get,
      async text(path: string) {
        return textOf(await (await get(path)).text());
      },
      async send(path: string, fields: Record<string, string> = {}) {
        const body = new URLSearchParams({ csrf, ...fields });
        const answer = await studio.request(path, {
          method: 'POST',
          body,
          headers: { cookie, host, origin: app.url },
        });
        return { status: answer.status, location: answer.headers.get('location') ?? '', answer };
      },
    };
  };
}

/** Players whose dry runs end when the test says so. */
function endless() {
  const played: { asked: DryRunAsked; token: string; end(end?: DryRunEnd): void; signal: AbortSignal }[] = [];
  const play: DryRunPlayer['play'] = (asked, token, { signal }) => {
    const { promise, resolve } = Promise.withResolvers<DryRunEnd>();
    signal.addEventListener('abort', () => resolve({ kind: 'failed', because: 'stopped' }));
    played.push({ asked, token, signal, end: (end = SHOWN) => resolve(end) });
    return promise;
  };
  return { play, played };
}

const ended = (who: { text(path: string): Promise<string> }, path: string) =>
  until('the end', async () => (await who.text(path)).includes('It is kept for') || undefined);

describe('a dry run', () => {
  test('belongs to the person who asked: for anybody else, its page, its events and its end are not found', async () => {
    const { harness, on } = await scene();
    const { play, played } = endless();
    const as = await studioWith(harness, play);
    const [mia, max] = [await as('mia'), await as('max')];
    const { status, location } = await mia.send(DRY_RUNS, { chain: 'pr-review', on });
    expect([status, played.length]).toEqual([303, 1]);
    expect(await mia.text(location)).toContain('takes at most 2 minutes');
    expect([
      (await max.get(location)).status,
      (await max.get(`${location}/events`)).status,
      (await max.send(`${location}/stop`)).status,
      (await openBrowser(harness).request(location)).status,
    ]).toEqual([404, 404, 404, 401]);
    expect(played[0]?.signal.aborted).toBe(false);
    expect((await mia.send(`${location}/stop`)).location).toBe(location);
    await ended(mia, location);
    expect(await mia.text(location)).toContain('It was stopped.');
  });

  test('is shown and stopped by each process that has Studio, whichever a proxy sends a request to', async () => {
    const { harness, on } = await scene();
    const { play, played } = endless();
    const [one, other] = [await studioWith(harness, play), await studioWith(harness, play)];
    const [first, second] = [await one('mia'), await other('mia')];
    const { location } = await first.send(DRY_RUNS, { chain: 'pr-review', on });
    expect(await second.text(location)).toContain('takes at most 2 minutes');
    expect((await second.send(DRY_RUNS, { chain: 'pr-review', on })).status).toBe(409);
    const events = await second.get(`${location}/events?since=0`);
    expect((await second.send(`${location}/stop`)).location).toBe(location);
    const decoder = new TextDecoder();
    let text = '';
    for await (const part of events.body ?? []) {
      text += decoder.decode(part);
      if (text.includes('It was stopped.')) break;
    }
    expect(played[0]?.signal.aborted).toBe(true);
    expect(await first.text(location)).toContain('It was stopped.');
  });

  test('reads with the token of the person who asked', async () => {
    const { harness, on } = await scene();
    const { play, played } = endless();
    const as = await studioWith(harness, play);
    await (await as('mia')).send(DRY_RUNS, { chain: 'pr-review', on });
    await (await as('max')).send(DRY_RUNS, { chain: 'pr-review', on });
    const owners = await Promise.all(
      played.map(async ({ token }) => {
        const answer = await fetch(`${harness.github.url}/user`, {
          headers: { authorization: `bearer ${token}` },
        });
        return ((await answer.json()) as { login: string }).login;
      }),
    );
    expect(owners).toEqual(['mia', 'max']);
  });

  test('is one at once for a person and two for all, and says which one is in the way', async () => {
    const { harness, on } = await scene();
    const { play, played } = endless();
    const as = await studioWith(harness, play);
    const [mia, max, will] = [await as('mia'), await as('max'), await as('will')];
    const asked = { chain: 'pr-review', on };
    const first = await mia.send(DRY_RUNS, asked);
    const second = await mia.send(DRY_RUNS, asked);
    expect([second.status, await second.answer.text()]).toEqual([
      409,
      expect.stringContaining(`href="${first.location}"`),
    ]);
    expect((await max.send(DRY_RUNS, asked)).status).toBe(303);
    expect((await will.send(DRY_RUNS, asked)).status).toBe(429);
    played[0]?.end();
    await ended(mia, first.location);
    expect((await will.send(DRY_RUNS, asked)).status).toBe(303);
  });

  test('of one person is one of ten in ten minutes', async () => {
    const { harness, on } = await scene();
    const as = await studioWith(harness, async () => SHOWN);
    const mia = await as('mia');
    const statuses = [];
    for (let nth = 0; nth < 11; nth++) {
      const { status, location } = await mia.send(DRY_RUNS, { chain: 'pr-review', on });
      statuses.push(status);
      if (status === 303) await ended(mia, location);
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 303), 429]);
    await harness.sleep(10 * MINUTE);
    expect((await mia.send(DRY_RUNS, { chain: 'pr-review', on })).status).toBe(303);
  });

  test('is forgotten half an hour after its end', async () => {
    const { harness, on } = await scene();
    const as = await studioWith(harness, async () => SHOWN);
    const mia = await as('mia');
    const { location } = await mia.send(DRY_RUNS, { chain: 'pr-review', on });
    await ended(mia, location);
    await harness.sleep(29 * MINUTE);
    expect(await mia.text(location)).toContain('It would run to its end. every step ended A &lt;b&gt;change');
    await harness.sleep(MINUTE);
    expect((await mia.get(location)).status).toBe(404);
  });

  test('needs a pull request that the person sees, and does not say which repositories there are', async () => {
    const { harness } = await scene();
    harness.github.setPrivate(REPO, true);
    const as = await studioWith(harness, async () => SHOWN);
    const [otto, mia] = [await as('otto'), await as('mia')];
    const said = async (who: typeof mia, on: string) => {
      const { status, answer } = await who.send(DRY_RUNS, { text: GREETING, on });
      return [status, /id="on-wrong"[^>]*>(.*?)</.exec(await answer.text())?.[1]];
    };
    const none = (name: string) => `You see no repository ${name} here. Countersign must be installed on it.`;
    expect(await said(otto, `${REPO}#1`)).toEqual([422, none(REPO)]);
    expect(await said(otto, 'octo/nothing#1')).toEqual([422, none('octo/nothing')]);
    expect(await said(mia, '#1')).toEqual([422, expect.stringContaining('owner/name#12')]);
  });

  test('of a pasted text that has errors shows them below their lines and begins nothing', async () => {
    const { harness, on } = await scene();
    const { play, played } = endless();
    const mia = await (await studioWith(harness, play))('mia');
    const { status, answer } = await mia.send(DRY_RUNS, {
      text: GREETING.replace('gh-comment', 'gh-coment'),
      on,
    });
    const html = await answer.text();
    expect([status, played]).toEqual([422, []]);
    expect(html).toContain('<tr class="fault error">');
    expect(html).toContain(`name="on" value="${on}"`);
    const huge = await mia.send(DRY_RUNS, { text: `${GREETING}#${'x'.repeat(65_536)}`, on });
    expect([huge.status, played]).toEqual([422, []]);
  });

  test('needs the token of a form of the person, and a sign-in', async () => {
    const { harness, on } = await scene();
    const { play, played } = endless();
    const mia = await (await studioWith(harness, play))('mia');
    expect((await mia.send(DRY_RUNS, { chain: 'pr-review', on, csrf: 'other' })).status).toBe(403);
    const nobody = await openBrowser(harness).request(DRY_RUNS, {
      method: 'POST',
      body: new URLSearchParams({ chain: 'pr-review', on }),
    });
    expect([nobody.status, played]).toEqual([401, []]);
    expect((await mia.send(DRY_RUNS, { chain: 'no-such-chain', on })).status).toBe(404);
  });
});

/** Waits for the end of a dry run, and returns what its page shows. */
async function shown(browser: Browser, answer: Response): Promise<string> {
  const path = answer.headers.get('location') ?? '';
  expect([answer.status, path]).toEqual([303, expect.stringMatching(/^\/chains\/dry-runs\/[\w-]{16}$/)]);
  // Its events come as it changes, and the last one shows the result.
  const events = await browser.request(`${path}/events`);
  const decoder = new TextDecoder();
  let text = '';
  for await (const part of events.body ?? []) {
    text += decoder.decode(part);
    if (/It (would|was|took|needed|failed)|GitHub (shows you|no longer|does)/.test(text)) break;
  }
  return textOf((await browser.open(path)).text);
}

/** What is sent to GitHub from now on that could change it. */
function watchWrites({ github }: Harness): string[] {
  const writes: string[] = [];
  github.onRequest(({ method, path, body }) => {
    const isQuery = path === '/graphql' && !JSON.stringify(body).includes('mutation');
    if (method !== 'GET' && !isQuery) writes.push(`${method} ${path}`);
  });
  return writes;
}

/** Where processes keep temporary files from now on, which no other test shares. */
function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'));
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  return folder;
}

describe('the process of a dry run', () => {
  test('shows the steps, the reasons and what a chain would write, and writes nothing', async () => {
    const { harness, number, on } = await scene();
    const browser = await signedIn(harness, 'mia');
    const writes = watchWrites(harness);
    const temporary = temporaryFolder();
    const page = await shown(browser, await post(browser, DRY_RUNS, { chain: 'pr-review', on }));
    expect(page).toContain(`Dry run of pr-review ${REPO}#${number}`);
    expect(page).toContain('It would ask for a countersign.');
    expect(page).toContain('merge : waiting for a countersign');
    expect(page).toMatch(/Comment on #\d+ ### ✍️ Approve this merge\?/);
    expect([writes, readdirSync(temporary)]).toEqual([[], []]);
  });

  test('plays a pasted chain, and shows a text as GitHub would', async () => {
    const { harness, number, on } = await scene();
    const browser = await signedIn(harness, 'will');
    const page = await shown(browser, await post(browser, DRY_RUNS, { text: GREETING, on }));
    expect(page).toContain(`Comment on #${number} Welcome, ada.`);
    expect(page).not.toContain('hidden');
  });

  test('plays the definition that is stored on the server', async () => {
    const { harness, number, on } = await scene();
    const now = harness.clock.now();
    const row = { id: 'chn_1', owner: 'octo', repository: 'app', name: 'greeting', definition: GREETING };
    await harness.app.storage.transaction((tx) =>
      tx.chains.put({ ...row, status: 'paused', createdAt: now, updatedAt: now }),
    );
    const browser = await signedIn(harness, 'mia');
    const page = await shown(browser, await post(browser, DRY_RUNS, { chain: 'greeting', on }));
    expect(page).toContain(`Comment on #${number} Welcome, ada.`);
  });

  test('says that there is no such pull request', async () => {
    const { harness } = await scene();
    const browser = await signedIn(harness, 'mia');
    const answer = await post(browser, DRY_RUNS, { chain: 'pr-review', on: `${REPO}#999` });
    expect(await shown(browser, answer)).toContain('GitHub shows you no such pull request.');
  });

  test('runs no command, although the settings of the repository allow it and a maintainer fires the chain', async () => {
    const file = join(tmpdir(), `countersign-test-dry-run-${process.pid}`);
    const text = `name: commands
trigger: { event: manual.fired }
steps:
  - { id: run, action: shell, with: { run: "touch ${file}" } }
`;
    const { harness, on } = await scene({ files: { '.github/countersign.yml': 'shell: allow\n' } });
    const browser = await signedIn(harness, 'mia');
    const page = await shown(browser, await post(browser, DRY_RUNS, { text, on }));
    expect([page, existsSync(file)]).toEqual([expect.stringContaining('run : '), false]);
  });

  test('is ended with everything that it started when it takes too long or is stopped, and leaves nothing', async () => {
    const { harness, number } = await scene();
    const temporary = temporaryFolder();
    const asked: DryRunAsked = {
      repo: { owner: 'octo', name: 'app' },
      pullRequest: number,
      chain: 'pr-review',
      stored: [],
    };
    const play = (limitMs: number, signal: AbortSignal) =>
      dryRunProcesses({ githubApiUrl: harness.github.url }, { log: silentLog, limitMs }).play(
        asked,
        harness.github.readToken('octo'),
        { signal, onSteps: () => {} },
      );
    expect(await play(1, new AbortController().signal)).toEqual({ kind: 'failed', because: 'timed_out' });
    // In the middle of a request that GitHub never answers, it cannot end by itself.
    const stop = new AbortController();
    harness.github.fail(({ path }) => {
      const isPull = path.includes('/pulls/');
      if (isPull) stop.abort();
      return isPull;
    }, 'hang');
    expect(await play(MINUTE, stop.signal)).toEqual({ kind: 'failed', because: 'stopped' });
    expect(readdirSync(temporary)).toEqual([]);
  });
});
