import { afterEach, expect, test } from 'vitest';
import { type Harness, startHarness } from '../support/harness.ts';

let harness: Harness | undefined;
afterEach(() => harness?.stop());

const studio = { isPublic: false, operators: [] };

test('Studio answers on the address of the app, and says that nobody can sign in without a client', async () => {
  harness = await startHarness({ studio });
  const answer = await fetch(`${harness.app.url}/runs`);
  expect([answer.status, answer.headers.get('content-security-policy')]).toEqual([
    401,
    expect.stringContaining("default-src 'none'"),
  ]);
  expect(await answer.text()).toContain('Nobody can sign in here yet');
});

test('without Studio, the app has no pages', async () => {
  harness = await startHarness();
  const answer = await fetch(`${harness.app.url}/runs`);
  expect([answer.status, await answer.json()]).toEqual([404, { error: expect.any(String) }]);
});
