import { expect, test } from 'vitest';
import { CI_AND_MERGE, countersign, open, ownCheck, reportCi, start } from './support.ts';

const PUBLIC_URL = 'https://countersign.example';

test('no text links to the app’s own address, which has no page for people', async () => {
  const harness = await start({ chain: CI_AND_MERGE, publicUrl: PUBLIC_URL });
  const written: string[] = [];
  harness.github.onRequest(({ body }) => void written.push(JSON.stringify(body ?? '')));
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'success');
  await countersign(harness, number);

  expect(ownCheck(harness, headSha).title).toBe('Merged: countersigned by mia');
  expect(written.filter((body) => body.includes(PUBLIC_URL))).toEqual([]);
});
