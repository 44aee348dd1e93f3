import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../support/harness.ts';
import { countersign, parsed } from './support.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ studio: { isPublic: false, operators: [] } });
  await harness.github.openPullRequest({
    repo: 'octo/app',
    author: 'ada',
    branch: 'two',
    title: 'Two',
    files: { 'src/two.ts': 'export const two = 2;\n' },
  });
  await harness.settle();
});
afterAll(() => harness.stop());

const token = (...args: string[]) =>
  countersign(['token', ...args], { env: { DATABASE_URL: harness.config.databaseUrl } });
const runs = async (secret: string) => {
  const answer = await fetch(`${harness.app.url}/api/v1/runs`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  return answer.status;
};

test('a token works for the API from its creation until it is revoked, and is shown only once', async () => {
  const made = parsed(
    await token('create', 'dashboard', '--repo', 'octo/app', '--expires', '30d', '--json'),
  ) as {
    id: string;
    token: string;
  };
  expect(made).toMatchObject({ name: 'dashboard', scopes: ['read'], repository_ids: [expect.any(Number)] });
  const listed = await token('list');
  expect(listed.stdout).toContain('dashboard');
  expect(listed.stdout).not.toContain(made.token);
  expect(await runs(made.token)).toBe(200);
  expect(await token('revoke', made.id)).toMatchObject({ code: 0 });
  expect(await runs(made.token)).toBe(401);
  expect(await token('revoke', made.id)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no token'),
  });
});

test('a token is not limited to a repository in which nothing has run', async () => {
  expect(await token('create', 'x', '--repo', 'octo/none')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Nothing has run in a repository octo/none yet'),
  });
});
