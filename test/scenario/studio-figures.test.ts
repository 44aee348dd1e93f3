import { expect, test } from 'vitest';
import { Visible } from '../../src/ports/visible.ts';
import { studioFor, textOf } from '../support/studio.ts';
import { A_RECHECK, countersign, MERGE_ONLY, open, start } from './support.ts';

test('Insight and the report read their figures once a minute, and show them only to people who may see all of these repositories', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const merge = async (branch: string) => {
    const { number } = await open(harness, { branch, files: { [`src/${branch}.ts`]: 'export {};\n' } });
    await countersign(harness, number);
  };
  await merge('first');
  await harness.advance(A_RECHECK);
  let visible = Visible.everything();
  const get = await studioFor(harness, { visible: () => visible });
  const shown = async () => {
    const insight = textOf((await get('/insight')).html);
    const report = textOf((await get('/report')).html);
    return [/Merged (\d)/.exec(insight)?.[1], /Runs that merged (\d)/.exec(report)?.[1]];
  };
  expect(await shown()).toEqual(['1', '1']);
  await merge('second');
  expect(await shown()).toEqual(['1', '1']);
  visible = Visible.only([]);
  expect(await shown()).toEqual([undefined, undefined]);
  visible = Visible.everything();
  await harness.sleep(60_000);
  expect(await shown()).toEqual(['2', '2']);
});
