// @module-tag security
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { StoredChain } from '../../src/domain/chain/stored.ts';
import { openBrowser, post, signedIn, WITH_SIGN_IN } from '../support/browser.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { type Harness, REPO, startHarness } from '../support/harness.ts';
import { startStudio } from '../support/served-studio.ts';
import { textOf } from '../support/studio.ts';

let harness: Harness;
beforeEach(async () => {
  harness = await startHarness({ studio: { ...WITH_SIGN_IN, operators: ['max'] } });
  onTestFinished(() => harness.stop());
  const at = harness.clock.now();
  const stored: StoredChain = {
    id: 'chn_ship',
    owner: 'octo',
    repository: null,
    name: 'ship',
    definition: null,
    status: 'active',
    createdAt: at,
    updatedAt: at,
  };
  const guid = 'a-delivery';
  const body = Buffer.from('{"zen":"Keep it logically awesome."}');
  const about = { event: 'ping', action: null, installationId: null, receivedAt: at, queueKey: null };
  await harness.app.storage.transaction(async (tx) => {
    await tx.chains.put(stored);
    const [{ id } = { id: 0 }] = await tx.deliveries.record([{ guid, body, ...about }]);
    await tx.deliveries.setStatus(id, 'failed', at, 'GitHub was out');
  });
});

/** What operators can change, and how the database says that it was done. */
const POSTS: [what: string, path: string, fields: Record<string, string>][] = [
  ['processes a delivery again', '/operations/deliveries/a-delivery/replay', {}],
  ['pauses a chain', '/chains/ship', { place: 'octo/*', status: 'paused' }],
];

/** What the posts change, and what the audit log says of it. */
async function changes(): Promise<string[]> {
  await harness.settle();
  const { read } = harness.app.storage;
  const [chain] = await read.chains.all();
  const delivery = await read.operations.delivery({ guid: 'a-delivery' });
  return [
    ...(chain?.status === 'active' ? [] : [`the chain is ${chain?.status}`]),
    ...(delivery?.status === 'failed' ? [] : [`the delivery is ${delivery?.status}`]),
  ];
}

describe('a form of operators', () => {
  eachFirstQuick(POSTS)('%s for an operator, and for nobody else', async (_what, path, fields) => {
    for (const login of ['mia', 'will']) {
      const answer = await post(await signedIn(harness, login), path, fields);
      expect([login, answer.status, await changes()]).toEqual([login, 404, []]);
    }
    const nobody = await openBrowser(harness).request(path, {
      method: 'POST',
      body: new URLSearchParams(fields),
    });
    expect([nobody.status, await changes()]).toEqual([401, []]);

    const answer = await post(await signedIn(harness, 'max'), path, fields);
    expect([answer.status, await changes()]).toEqual([303, [expect.any(String)]]);
  });

  eachFirstQuick(POSTS)(
    '%s only with the secret of the operator’s own page, and from it',
    async (_what, path, fields) => {
      const max = await signedIn(harness, 'max');
      const of = async (name: string) => {
        const page = await (await signedIn(harness, name)).open('/runs');
        return /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
      };
      const send = (csrf: string | undefined, headers: Record<string, string> = {}) =>
        max.request(path, {
          method: 'POST',
          headers,
          body: new URLSearchParams({ ...fields, ...(csrf !== undefined && { csrf }) }),
        });
      const own = /name="csrf" value="([^"]+)"/.exec((await max.open('/runs')).text)?.[1] ?? '';
      const refused = [
        await send(undefined),
        await send(''),
        await send(await of('mia')),
        await send(own, { origin: 'https://evil.example' }),
        await send(own, { 'sec-fetch-site': 'cross-site' }),
      ];
      expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
      expect(await changes()).toEqual([]);
      expect((await send(own)).status).toBe(303);
    },
  );

  eachFirstQuick(POSTS)(
    '%s for nobody who opened the link of the machine: that is read-only, and says so',
    async (_what, path, fields) => {
      const studio = await startStudio(harness);
      onTestFinished(() => studio.stop());
      const answer = await studio.get(path, {
        method: 'POST',
        headers: { origin: studio.url },
        body: new URLSearchParams(fields),
      });
      expect([answer.status, textOf(await answer.text())]).toEqual([
        403,
        expect.stringMatching(
          /^Read-only You opened Studio by the link that was printed on the server, which only reads\./,
        ),
      ]);
      expect(await changes()).toEqual([]);
    },
  );

  test('does nothing for a former operator, who the settings name no longer', async () => {
    const max = await signedIn(harness, 'max');
    if (harness.config.studio) harness.config.studio = { ...harness.config.studio, operators: [] };
    await harness.restart();
    const after = openBrowser(harness);
    for (const [name, value] of max.cookies) after.cookies.set(name, value);
    const [, path = ''] = POSTS[0] ?? [];
    const again = await post(after, path, {});
    expect([again.status, await changes()]).toEqual([404, []]);
  });

  test('names a chain and a place where it is known', async () => {
    const max = await signedIn(harness, 'max');
    const answers = [
      await post(max, '/chains/other', { place: 'octo/*', status: 'paused' }),
      await post(max, '/chains/ship', { place: 'octo/other', status: 'paused' }),
      await post(max, '/chains/ship', { place: 'octo/*', status: 'gone' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(await changes()).toEqual([]);
  });
});

test('each page that somebody with the link of the machine opens says that it is read-only, and has no form that changes anything', {
  tags: 'slow',
}, async () => {
  await harness.github.openPullRequest({
    repo: REPO,
    author: 'ada',
    branch: 'x',
    title: 'x',
    files: { 'src/a.ts': 'export {};\n' },
  });
  await harness.settle();
  const [run] = await harness.app.storage.read.runs.list({ limit: 1 });
  const studio = await startStudio(harness);
  onTestFinished(() => studio.stop());
  for (const path of [
    '/',
    `/${REPO}/pull/1`,
    `/runs/${run?.id}`,
    '/chains/ship',
    '/operations',
    '/operations/deliveries/a-delivery',
    '/operations/settings',
  ]) {
    const text = await studio.text(path);
    const posts = [...text.matchAll(/<form[^>]*method="post"[^>]*action="([^"]*)"/g)].map(([, to]) => to);
    expect([path, text.includes('Read-only, on this machine'), posts]).toEqual([path, true, []]);
  }
  expect(await studio.text('/chains/ship')).toContain('Read-only: here, nobody can pause or resume it.');
});
