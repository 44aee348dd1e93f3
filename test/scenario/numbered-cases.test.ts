import { expect, test } from 'vitest';
import { REPO } from '../support/harness.ts';
import { approvalOf, countersign, open, ownCheck, readable, reportCi, start, statusOf, said } from './support.ts';

test('1: probe', async () => {
  const harness = await start();
  const { number, headSha } = await open(harness);
  await harness.advance(6000);
  console.log(said(harness, headSha));
  await reportCi(harness, headSha, 'success');
  console.log(harness.github.comments(REPO, number).map((c) => c.body).join('\n=====\n'));
  await countersign(harness, number);
  console.log(harness.github.comments(REPO, number).map((c) => c.body).join('\n=====\n'));
  console.log(ownCheck(harness, headSha));
});
