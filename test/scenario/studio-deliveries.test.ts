import { expect, test } from 'vitest';
import { WEBHOOK_PATH } from '../../src/config/webhook-path.ts';
import { type Browser, post, signedIn, WITH_SIGN_IN } from '../support/browser.ts';
import { type Harness, REPO } from '../support/harness.ts';
import { rowsOf } from '../support/rows-of.ts';
import { startStudio } from '../support/served-studio.ts';
import { textOf } from '../support/studio.ts';
import { MERGE_ONLY, open, start } from './support.ts';

const LIST = '/operations/deliveries';
async function startForOperators(): Promise<Harness> {
  const harness = await start({ chain: MERGE_ONLY, studio: { ...WITH_SIGN_IN, operators: ['max'] } });
  // Otherwise the search for missed pull requests can be the first to see the new one.
  await harness.settle();
  return harness;
}

/** The GUID of the newest delivery of an event. */
async function guidOf({ app }: Harness, event: string): Promise<string> {
  const { items } = await app.storage.read.operations.deliveries({ event, limit: 1 });
  return items[0]?.guid ?? '';
}

/** The GUID of the delivery with which the first run began. */
async function guidOfRun({ app }: Harness): Promise<string> {
  const [run] = await app.storage.read.runs.list({ limit: 1 });
  const { items } = await app.storage.read.operations.deliveries({ limit: 20 });
  return items.find(({ id }) => id === run?.deliveryId)?.guid ?? '';
}

/** As retention does it. */
async function deleteBodies({ config }: Harness): Promise<void> {
  for (const table of ['delivery_bodies', 'body_packs'])
    await rowsOf(config.databaseUrl, `DELETE FROM ${table}`);
}

async function shown(browser: Browser, path: string): Promise<string> {
  const page = await browser.open(path);
  expect(page.status).toBe(200);
  return textOf(page.text);
}

test('the page of a delivery says what the app read from it, which runs began, and has it processed again', {
  tags: 'slow',
}, async () => {
  const harness = await startForOperators();
  await open(harness);
  const max = await signedIn(harness, 'max');
  const path = `${LIST}/${await guidOfRun(harness)}`;
  const page = await max.open(path);
  expect(textOf(page.text)).toMatch(
    /Status Done Attempts 1 .* What it says \S+ in octo\/app\S* Runs pr-review in octo\/app #1: waiting for a countersign/,
  );
  const after = await max.send(page, `${path}/replay`);
  expect(textOf(after.text)).toMatch(/Status Received, waits to be processed .* Next attempt/);
  await harness.settle();
  expect(await shown(max, path)).toContain('Status Done Attempts 2');
});

test('the page of a delivery that is nothing for the app says so', { tags: 'slow' }, async () => {
  const harness = await startForOperators();
  const { body, headers } = harness.github.signedDelivery('ping', { zen: 'Keep it logically awesome.' });
  await fetch(`${harness.app.url}${WEBHOOK_PATH}`, { method: 'POST', body, headers });
  await harness.settle();
  const max = await signedIn(harness, 'max');
  expect(await shown(max, `${LIST}/${await guidOf(harness, 'ping')}`)).toContain(
    'Nothing for this app: this app does not act on "ping" webhooks.',
  );
});

test('a delivery whose body retention deleted has a page, and replaying it says why that cannot be', {
  tags: 'slow',
}, async () => {
  const harness = await startForOperators();
  await open(harness);
  const max = await signedIn(harness, 'max');
  const path = `${LIST}/${await guidOf(harness, 'pull_request')}`;
  await deleteBodies(harness);
  const page = await max.open(path);
  expect(page.text).not.toContain('<button>Process it again');
  expect(textOf(page.text)).toContain('Size Deleted');
  const answer = await post(max, `${path}/replay`, {});
  expect([answer.status, textOf(await answer.text())]).toEqual([
    409,
    expect.stringMatching(
      /What GitHub sent is older than RETENTION keeps it, so it cannot be processed again/,
    ),
  ]);
});

test('a delivery that is being processed is not processed again, and its page says when it is tried next', {
  tags: 'slow',
}, async () => {
  const harness = await startForOperators();
  const repair = harness.github.fail(({ path }) => path.startsWith('/repos/'), { status: 503 });
  await open(harness);
  const max = await signedIn(harness, 'max');
  const path = `${LIST}/${await guidOf(harness, 'pull_request')}`;
  expect(await shown(max, path)).toMatch(
    /Status Processing: an attempt failed, and it is tried again Attempts \d+ Next attempt 2026-03-02 09:00:\d\d UTC \. GitHub cannot be asked since/,
  );
  const answer = await post(max, `${path}/replay`, {});
  expect([answer.status, textOf(await answer.text())]).toEqual([
    409,
    expect.stringContaining('It waits to be processed already'),
  ]);
  repair();
});

test('a delivery that nobody knows is not found, and neither is its replay', { tags: 'slow' }, async () => {
  const harness = await startForOperators();
  const max = await signedIn(harness, 'max');
  expect((await max.open(`${LIST}/none`)).status).toBe(404);
  expect((await post(max, `${LIST}/none/replay`, {})).status).toBe(404);
});

test('the list of deliveries is narrowed by status, event, repository and text', {
  tags: 'slow',
}, async () => {
  const harness = await startForOperators();
  await open(harness);
  const max = await signedIn(harness, 'max');
  const guids = async (query: string) =>
    [...(await max.open(`${LIST}?${query}`)).text.matchAll(/deliveries\/([^"?]+)">/g)].map(
      ([, guid]) => guid,
    );
  const opened = await guidOf(harness, 'pull_request');
  const all = await guids('');
  expect(all.length).toBeGreaterThan(1);
  expect(await guids('event=pull_request')).toEqual([opened]);
  expect(await guids('text=REQUEST.OPENED')).toEqual([opened]);
  expect(await guids(`text=${opened.slice(0, 12)}`)).toContain(opened);
  expect(await guids('status=failed')).toEqual([]);
  expect(await guids(`repository=${REPO.toUpperCase()}`)).toContain(opened);
  expect(await guids('repository=octo/other')).toEqual([]);
  await deleteBodies(harness);
  // By the run that began with it.
  expect(await guids(`repository=${REPO}`)).toEqual([await guidOfRun(harness)]);
});

test('a search for a repository looks at 200 deliveries a page, says so, and goes on until it has seen all', {
  tags: 'slow',
}, async () => {
  const harness = await startForOperators();
  await open(harness);
  const opened = await guidOf(harness, 'pull_request');
  const receivedAt = harness.clock.now();
  await harness.app.storage.transaction((tx) =>
    tx.deliveries.record(
      Array.from({ length: 250 }, (_, index) => ({
        guid: `more-${index}`,
        event: 'ping',
        action: null,
        installationId: null,
        receivedAt,
        queueKey: null,
        body: Buffer.from('{"repository":{"full_name":"octo/other"}}'),
      })),
    ),
  );
  const max = await signedIn(harness, 'max');
  const first = (await max.open(`${LIST}?repository=${REPO}`)).text;
  expect(textOf(first)).toContain('None among those that this page looked at. There are older ones.');
  const [, next = ''] = /rel="next" href="([^"]+)"/.exec(first) ?? [];
  const second = await max.open(next.replaceAll('&amp;', '&'));
  expect(second.text).toContain(opened);
  expect(second.text).not.toContain('rel="next"');
});

test('somebody with the link of the machine sees a delivery, and the page says that this is read-only', async () => {
  const harness = await startForOperators();
  await open(harness);
  const studio = await startStudio(harness);
  const path = `${LIST}/${await guidOf(harness, 'pull_request')}`;
  const text = textOf(await studio.text(path));
  await studio.stop();
  expect(text).toContain('Read-only: here, nobody can have it processed again.');
  expect(text).toContain('it cannot say which events these are');
});
