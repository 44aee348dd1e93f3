import { expect, test } from 'vitest';
import { Visible } from '../../src/ports/visible.ts';
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
  expect((await outsider('/skills')).status).toBe(200);
});
