import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolders } from '../../support/temp.ts';
import { countersign, jobsIn, parsed, seed } from './support.ts';

const newFolder = temporaryFolders();

async function world() {
  const cwd = newFolder();
  const path = join(cwd, 'countersign.db');
  await seed(path, async () => {});
  mkdirSync(join(cwd, 'chains'));
  writeFileSync(
    join(cwd, 'chains/deploy.yaml'),
    'name: deploy\ntrigger: { event: manual.fired }\nsteps:\n  - skill: ci\n',
  );
  writeFileSync(join(cwd, 'chains/bad.yaml'), 'name: bad\n');
  const run = (...args: string[]) =>
    countersign(['chain', ...args], { cwd, env: { DATABASE_URL: `sqlite:${path}` } });
  return { path, run };
}

test('a chain is defined, paused, resumed and disabled, each with a job for the app and an entry in the audit log', async () => {
  const { path, run } = await world();
  const at = ['--repo', 'acme/shop'];
  expect(await run('define', 'chains/deploy.yaml', ...at)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Defined deploy for acme\/shop\./),
  });
  expect((await run('pause', 'deploy', '--repo', 'Acme/Shop')).stdout).toMatch(
    /^Paused deploy for acme\/shop: /,
  );
  expect((await run('resume', 'deploy', ...at)).stdout).toMatch(/^Resumed deploy for acme\/shop: /);
  expect((await run('disable', 'pr-review', '--owner', 'acme')).stdout).toMatch(
    /^Disabled pr-review for acme\/\*: /,
  );

  expect(parsed(await run('list', '--stored', ...at, '--json'))).toMatchObject([
    {
      owner: 'acme',
      repository: 'shop',
      name: 'deploy',
      status: 'active',
      definition: expect.stringContaining('name: deploy'),
    },
    { owner: 'acme', repository: null, name: 'pr-review', status: 'disabled', definition: null },
  ]);
  expect(jobsIn(path)).toEqual(
    Array.from({ length: 4 }, () => ({ kind: 'chains', key: 'chains', payload: {} })),
  );
  const verbs: unknown[] = [];
  await seed(path, async ({ read }) => {
    for (const { entry } of await read.audit.page({ after: 0, limit: 10 }))
      verbs.push(entry.verb, entry.chain);
  });
  expect(verbs).toEqual(['define', 'deploy', 'pause', 'deploy', 'resume', 'deploy', 'disable', 'pr-review']);
});

test('a file with errors is not defined', async () => {
  const { path, run } = await world();
  const { code, stderr } = await run('define', 'chains/bad.yaml', '--repo', 'acme/shop');
  expect(code).toBe(1);
  expect(stderr).toContain('"steps" is missing');
  expect(jobsIn(path)).toEqual([]);
});

test.each([[[]], [['--repo', 'acme/shop', '--owner', 'acme']]])(
  'a change needs exactly one place: %j',
  async (at) => {
    const { run } = await world();
    expect(await run('pause', 'deploy', ...at)).toMatchObject({ code: 2 });
  },
);
