// @module-tag security
// @module-tag slow
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hashOfApiToken } from '../../src/domain/api-token/api-token.ts';
import { ROUTES } from '../../src/entrypoints/api/routes.ts';
import { type Browser, signedIn, WITH_SIGN_IN } from '../support/browser.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { addressesAt, NOT_STORED } from '../support/hostile/places.ts';
import { type HostilePlace, storeEverywhere, type WhereToStore } from '../support/hostile/world.ts';
import { type StudioRoute, studioParameters, studioRoutes } from '../support/studio-routes.ts';

/** Both repositories say it, so that whatever counts or searches it finds both. */
const TEXT = 'the same words';
const TOKEN = `cst_${'a'.repeat(32)}`;

const API = { headers: { authorization: `Bearer ${TOKEN}` } };

let harness: Harness;
let browser: Browser;
let routes: StudioRoute[];
let seen: HostilePlace;
let hidden: HostilePlace;
let store: (where: Partial<WhereToStore>, at: number) => Promise<HostilePlace>;
let hiddenId: number;

/** Somebody who sees one repository, and a second one that they cannot see and that has nothing yet. */
beforeEach(async () => {
  harness = await startHarness({ studio: { ...WITH_SIGN_IN, operators: ['max'] } });
  ({ id: hiddenId } = harness.github.addRepository({
    owner: 'octo',
    name: 'hidden',
    private: true,
    files: { 'README.md': '# Hidden\n' },
    collaborators: { mia: 'maintain' },
  }));
  await harness.github.openPullRequest({
    repo: 'octo/app',
    author: 'ada',
    branch: 'two',
    title: 'Two',
    files: { 'src/two.ts': 'export const two = 2;\n' },
  });
  await harness.settle();
  browser = await signedIn(harness, 'will');
  const { read } = harness.app.storage;
  const [run] = await read.runs.list({ limit: 1 });
  const hash = createHash('sha256')
    .update(browser.cookies.get('countersign') ?? '')
    .digest('hex');
  const session = await read.studioSessions.find(hash, harness.clock.now());
  if (!run || !session) throw new Error('there is no run, or nobody is signed in');
  const app = { id: run.repositoryId, installationId: run.installationId, personId: session.personId };
  store = (where, at) => storeEverywhere(harness, { ...app, ...where }, TEXT, at);
  routes = (await studioRoutes(harness)).filter(
    ({ path }) => !NOT_STORED.test(path) && !path.startsWith('/operations'),
  );
  seen = await store({}, 2);
  // As the next one will be.
  hidden = JSON.parse(JSON.stringify(seen).replaceAll('hostile2', 'hostile4').replace('1002', '1004'));
  await harness.app.storage.transaction((tx) =>
    tx.apiTokens.insert({
      id: 'tok_1',
      name: 'one repository',
      hash: hashOfApiToken(TOKEN) ?? '',
      scopes: ['read'],
      repositoryIds: [run.repositoryId],
      owner: null,
      createdAt: harness.clock.now(),
      expiresAt: new Date(harness.clock.now().getTime() + 86_400_000),
      revokedAt: null,
      usedAt: harness.clock.now(),
    }),
  );
});
afterEach(() => harness.stop());

/** Two and a half hours. */
const A_WHILE_MS = 9_000_000;
/** How long Insight and the report remember what they have read. */
const FIGURES_MS = 60_000;

async function fillHidden(): Promise<void> {
  const personId = 4_711;
  const stored = await store({ id: hiddenId, name: 'hidden', personId, chain: seen.chain }, 4);
  expect([stored.run, stored.number]).toEqual([hidden.run, hidden.number]);
  expect(stored.artifacts).toEqual(expect.arrayContaining(hidden.artifacts));
  await store({ id: hiddenId, name: 'hidden', personId }, 6);
}

/** An answer without what differs each time. */
async function answerTo(path: string, init?: RequestInit): Promise<string> {
  const answer = await browser.request(path, init);
  const { status, headers } = answer;
  const sent = [...headers].filter(([name]) => name !== 'date' && name !== 'set-cookie');
  const all = JSON.stringify([status, sent, await answer.text()]);
  return all
    .replaceAll(/nonce(=\\?"|-)[\w-]+/g, 'nonce')
    .replaceAll(/name=\\"csrf\\" value=\\"[\w-]+/g, 'csrf');
}

/** What somebody could guess of the hidden repository, as they would write it into an address. */
function guesses(): string[] {
  const at = harness.clock.now().toISOString();
  const places = [hidden.run, hidden.artifacts[0] ?? ''];
  return [
    'octo/hidden',
    String(hiddenId),
    hidden.chain,
    hidden.number,
    `#${hidden.number}`,
    hidden.command,
    TEXT,
    ...places,
    ...places.flatMap((id) => [
      `${at}_${id}`,
      `${at} ${id}`,
      Buffer.from(`${at} ${id}`).toString('base64url'),
    ]),
    ...places.map((id) => Buffer.from(JSON.stringify([at, id])).toString('base64url')),
  ];
}

/** Every answer of Studio and the API that could depend on the hidden repository. */
async function everyAnswer(
  tried: readonly string[],
  { alone = false }: { alone?: boolean } = {},
): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  const gets = routes.filter(({ method, path }) => method === 'GET' && !path.endsWith('/events'));
  for (const route of gets)
    for (const place of [seen, hidden])
      for (const address of addressesAt(route, place)) answers.set(address, await answerTo(address));
  for (const { path } of gets.filter((route) => !route.path.includes(':')))
    for (const guess of tried)
      for (const names of alone ? studioParameters().map((name) => [name]) : [studioParameters()]) {
        const address = `${path}?${new URLSearchParams(names.map((name): [string, string] => [name, guess]))}`;
        answers.set(address, await answerTo(address));
      }
  for (const { at, query } of ROUTES.filter(({ stamp }) => !stamp))
    for (const { run, artifacts, number, chain } of [seen, hidden]) {
      const filled = at
        .replace('{owner}/{repo}', run === hidden.run ? 'octo/hidden' : 'octo/app')
        .replace('{number}', number)
        .replace('{name}', chain)
        .replace('{id}', at.startsWith('/artifacts') ? (artifacts[0] ?? '') : run);
      const queries = Object.keys(query.shape).flatMap((name) => tried.map((guess) => [name, guess]));
      for (const given of [
        '',
        ...queries.map((pair) => `?${new URLSearchParams([pair as [string, string]])}`),
      ]) {
        const address = `/api/v1${filled}${given}`;
        if (answers.has(address)) continue;
        answers.set(address, await answerTo(address, API));
      }
    }
  return answers;
}

const differing = (one: Map<string, string>, other: Map<string, string>) =>
  [...one].filter(([address, answer]) => other.get(address) !== answer).map(([address]) => address);

describe('a repository that somebody cannot see on GitHub', () => {
  test('changes no byte of any answer to them', async () => {
    hidden.artifacts.splice(2);
    seen.artifacts.splice(2);
    const before = await everyAnswer(['octo/hidden']);
    await fillHidden();
    expect(differing(before, await everyAnswer(['octo/hidden']))).toEqual([]);
  });

  test('changes no figures either, once they are read again', async () => {
    const pages = ['/insight', '/report'];
    const answers = () => Promise.all(pages.map((page) => answerTo(page)));
    // From then on, another minute changes no time on them.
    harness.clock.advance(A_WHILE_MS);
    const before = await answers();
    await fillHidden();
    harness.clock.advance(FIGURES_MS);
    expect(await answers()).toEqual(before);
    // What they can see does change them.
    await store({}, 8);
    harness.clock.advance(FIGURES_MS);
    const after = await answers();
    expect(after.map((answer, index) => answer === before[index])).toEqual([false, false]);
  });

  test('changes nothing where one that they can see changes every answer', async () => {
    const before = await everyAnswer([]);
    await store({}, 8);
    for (const page of [
      '/',
      '/runs',
      '/artifacts',
      '/chains',
      '/skills',
      '/api/v1/runs',
      '/api/v1/artifacts',
      '/api/v1/pulls',
      '/api/v1/chains',
    ])
      expect([page, before.get(page) === (await answerTo(page, API))]).toEqual([page, false]);
  });

  test('changes no answer to any guess, as every filter and cursor together', async () => {
    const before = await everyAnswer(guesses());
    await fillHidden();
    expect(differing(before, await everyAnswer(guesses()))).toEqual([]);
  });

  test('changes no answer to a guess as one filter or cursor alone', async () => {
    const alone = await everyAnswer(guesses().slice(0, 8), { alone: true });
    await fillHidden();
    expect(differing(alone, await everyAnswer(guesses().slice(0, 8), { alone: true }))).toEqual([]);
  });

  test('is not found by a form in the same bytes as one that does not exist', async () => {
    await fillHidden();
    const csrf = /name="csrf" value="([^"]+)"/.exec((await browser.open('/runs')).text)?.[1] ?? '';
    const forms = routes.filter(({ method, path }) => method === 'POST' && path !== '/chains/check');
    expect(forms.length).toBeGreaterThan(2);
    const send = (route: StudioRoute, place: HostilePlace, repository: number) =>
      answerTo(addressesAt(route, place)[0] ?? '', {
        method: 'POST',
        body: new URLSearchParams({
          csrf,
          run: place.run,
          approval: place.run.replace('run', 'apr'),
          says: 'approve',
          repository: String(repository),
          pull: place.number,
          head: (4).toString(16).padStart(40, 'f'),
          verb: 'cancel',
          chain: 'pr-review',
          on: repository === hiddenId ? 'octo/hidden#1004' : 'octo/nobody#1004',
        }),
      });
    const missing = { ...hidden, run: 'run_none', number: '1004', artifacts: ['art_none'] };
    for (const route of forms) {
      const [one, other] = [await send(route, hidden, hiddenId), await send(route, missing, 999_999)];
      expect([route.path, one.replaceAll('octo/hidden', 'octo/nobody')]).toEqual([route.path, other]);
      expect([route.path, one.slice(1, 4)]).toEqual([route.path, expect.stringMatching(/404|422/)]);
    }
  });
});
