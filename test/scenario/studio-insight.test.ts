// @module-tag slow
import { expect, test } from 'vitest';
import { Visible } from '../../src/ports/visible.ts';
import { REPO } from '../support/harness.ts';
import { person, studioFor, textOf } from '../support/studio.ts';
import { countersign, MERGE_ONLY, open, react, start } from './support.ts';

test('Insight counts a merge, its countersign and the time that the step waited, once each', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { number } = await open(harness);
  await harness.advance(7_200_000);
  await countersign(harness, number, 'mia');
  await harness.advance(120_000);
  const get = await studioFor(harness);
  const text = textOf((await get('/insight')).html);
  expect(text).toContain('Merged 1 Median time 2 hours The slowest 5 %: at least 2 hours');
  expect(text).toContain('merge 1 2 hours 2 hours 2 hours');
  expect(text).toContain('Countersigns by person mia 1');
  expect(text).toContain('Nobody has rejected anything in this period.');
});

test('Insight counts a rejection once, however often a rerun finds it', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { number } = await open(harness);
  await react(harness, number, 'mia', '-1');
  await harness.advance(120_000);
  for (let again = 0; again < 2; again++) {
    await harness.github.comment(REPO, number, 'mia', '/countersign rerun');
    await harness.settle();
    await harness.advance(120_000);
  }
  const get = await studioFor(harness);
  expect(textOf((await get('/insight')).html)).toContain('Rejections by person mia 1');
});

test('Insight shows nothing of repositories that the viewer cannot see', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { number } = await open(harness);
  await countersign(harness, number, 'mia');
  const get = await studioFor(harness, { viewer: person(900, 'will'), visible: Visible.only([]) });
  const { html } = await get('/insight?repository=1');
  expect(textOf(html)).toContain('No pull request was merged in this period.');
  expect(html).not.toContain('mia');
});

test('Insight forgets what is older than the period', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { number } = await open(harness);
  await countersign(harness, number, 'mia');
  await harness.sleep(8 * 86_400_000);
  const get = await studioFor(harness);
  expect((await get('/insight?days=7')).html).not.toContain('mia');
  expect((await get('/insight?days=30')).html).toContain('mia');
});
