// @module-tag slow
import { describe, expect, test } from 'vitest';
import { Visible } from '../../src/ports/visible.ts';
import { signedIn, WITH_SIGN_IN } from '../support/browser.ts';
import { person, studioFor, textOf } from '../support/studio.ts';
import { MERGE_ONLY, open, start } from './support.ts';

const OPERATIONS = [
  '/operations',
  '/operations/deliveries',
  '/operations/effects?status=done',
  '/operations/settings',
];

test('operators see deliveries with their runs, and others find no operations', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  await open(harness);
  const operator = await studioFor(harness);
  for (const path of OPERATIONS) expect([path, (await operator(path)).status]).toEqual([path, 200]);
  const { html } = await operator('/operations/deliveries?event=pull_request');
  const [, delivery = ''] = /href="(\/operations\/deliveries\/[^"?]+)"/.exec(html) ?? [];
  expect(textOf((await operator(delivery)).html)).toContain('pull_request.opened');
  const other = await studioFor(harness, { viewer: person(1, 'mia') });
  for (const path of [...OPERATIONS, delivery]) {
    expect([path, (await other(path)).status]).toEqual([path, 404]);
  }
});

test('operators see what is left of GitHub’s budget for each installation, and that all checks pass', async () => {
  const harness = await start({ chain: MERGE_ONLY, studio: { ...WITH_SIGN_IN, operators: ['max'] } });
  await open(harness);
  const max = await signedIn(harness, 'max');
  const text = textOf((await max.open('/operations')).text);
  expect(text).toContain('Webhooks are accepted: all checks of /readyz pass. The engine responds.');
  expect(text).toContain('At work: 0 of 16 reviews, 0 of 16 other jobs');
  const [, left, limit] = /octo \(\d+\) (\d+) of (\d+), until 2026-03-02/.exec(text) ?? [];
  expect([Number(left) < Number(limit), limit]).toEqual([true, '5000']);
});

test('operators see how many jobs of each kind wait while GitHub is out', async () => {
  const harness = await start({ chain: MERGE_ONLY, studio: { ...WITH_SIGN_IN, operators: ['max'] } });
  const repair = harness.github.fail(({ path }) => path.startsWith('/repos/'), { status: 503 });
  await open(harness);
  const max = await signedIn(harness, 'max');
  const text = textOf((await max.open('/operations')).text);
  expect(text).toContain('Kind Due Held by a worker Later Tried before Wait for GitHub Oldest');
  expect(text).toContain('delivery 0 0 2 0 2');
  repair();
});

test('the page of operations says that it knows nothing of the app from a process of its own, or while the app does not answer', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const alone = textOf((await (await studioFor(harness))('/operations')).html);
  expect(alone).toContain('It is not connected to the running app');
  const silent = await studioFor(harness, { health: () => Promise.reject(new Error('busy')) });
  const text = textOf((await silent('/operations')).html);
  expect(text).toContain('The app’s engine does not answer.');
  expect(text).toContain('this page has no answer of the app');
});

test('a chain is shown to those who see a repository that it ran in, with its steps', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  await open(harness);
  const mia = await studioFor(harness, { viewer: person(1, 'mia') });
  const { html } = await mia('/chains');
  expect(textOf(html)).toContain('octo/app');
  const chain = '/chains/pr-review';
  expect(html).toContain(`href="${chain}"`);
  expect((await mia(chain)).html).toContain('<svg class="graph"');
  const outsider = await studioFor(harness, { viewer: person(2, 'max'), visible: Visible.only([]) });
  expect(textOf((await outsider('/chains')).html)).toContain('No chain has run yet.');
  // What ships is no secret.
  expect(textOf((await outsider(chain)).html)).toContain('It has not run yet.');
  expect(textOf((await outsider(chain)).html)).not.toContain('octo/app');
  const skills = textOf((await outsider('/skills')).html);
  expect(skills).toMatch(/docs-review [\d.]+ analyzer /);
  expect(textOf((await outsider('/skills/docs-review')).html)).toMatch(
    /analyzer links\.yml.*It was not used yet\./,
  );
  expect((await outsider('/skills/no-such-skill')).status).toBe(404);
});

test('the pages of a run and of its chain say where the chain is defined', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  await open(harness);
  const get = await studioFor(harness);
  const [run] = await harness.app.storage.read.runs.list({ limit: 1 });
  const file = 'a file of the repository (.github/countersign/chains/pr-review.yaml)';
  expect(textOf((await get(`/runs/${run?.id}`)).html)).toContain(`the chain is ${file}`);
  expect(textOf((await get('/chains/pr-review')).html)).toContain(
    `as its newest run has it : ${file}, for octo/app`,
  );
});

test('an operator pauses a chain in a repository where nothing is stored about it, and resumes it there', async () => {
  const harness = await start({ chain: MERGE_ONLY, studio: { ...WITH_SIGN_IN, operators: ['mia'] } });
  await open(harness);
  const mia = await signedIn(harness, 'mia');
  const runs = async () => (await harness.app.storage.read.runs.list({})).length;
  const before = await runs();
  const page = await mia.open('/chains/pr-review');
  expect(textOf(page.text)).toContain('Begins with pr.opened');
  expect(textOf(page.text)).toContain('octo/app: Active Pause for octo/app Disable for octo/app');
  const paused = await mia.send(page, '/chains/pr-review', { status: 'paused' });
  expect(textOf(paused.text)).toContain('octo/app Paused');
  await harness.settle();
  await open(harness, { branch: 'second' });
  expect(await runs()).toBe(before);
  await mia.send(paused, '/chains/pr-review', { status: 'active' });
  await harness.settle();
  await open(harness, { branch: 'third' });
  expect(await runs()).toBeGreaterThan(before);
});

describe('the list of chains', () => {
  const stored = {
    id: 'chn_1',
    owner: 'octo',
    repository: null,
    name: 'pr-review',
    definition: null,
    status: 'paused',
  } as const;

  async function listed() {
    const harness = await start({ chain: MERGE_ONLY });
    await open(harness);
    const now = harness.clock.now();
    await harness.app.storage.transaction((tx) =>
      tx.chains.put({ ...stored, createdAt: now, updatedAt: now }),
    );
    return harness;
  }

  test.each([
    ['', true],
    ['?text=REVIEW', true],
    ['?text=octo', true],
    ['?text=oct_', false],
    ['?text=%25', false],
    ['?repository=Octo/App', true],
    ['?repository=octo/ap', false],
    ['?state=paused', true],
    ['?state=active', false],
    ['?state=disabled&repository=octo/app', false],
    ['?state=of+no+kind', true],
  ])('for %j has the paused chain of a repository: %s', async (query, isThere) => {
    const mia = await studioFor(await listed(), { viewer: person(1, 'mia') });
    const text = textOf((await mia(`/chains${query}`)).html);
    expect(text.includes('pr-review octo/app Paused 1')).toBe(isThere);
    if (!isThere) expect(text).toContain('No such chain has run.');
  });

  test('says nothing of repositories that somebody does not see, whatever it is limited to', async () => {
    const harness = await listed();
    const outsider = await studioFor(harness, { viewer: person(2, 'max'), visible: Visible.only([]) });
    for (const query of ['', '?state=paused', '?text=octo', '?repository=octo/app']) {
      const { html } = await outsider(`/chains${query}`);
      expect([query, /octo(\/app)?<|all of octo|Stored on this server/.test(html)]).toEqual([query, false]);
    }
  });
});
