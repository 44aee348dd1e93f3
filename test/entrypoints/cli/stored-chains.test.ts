import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runState } from '../../support/rows.ts';
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

test('a chain is defined, paused, resumed and disabled, each with a job for the app and an entry in the audit log', {
  tags: 'slow',
}, async () => {
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
    // Resuming may bring back a schedule that was forgotten meanwhile.
    [{}, {}, { schedules: true }, {}].map((payload) => ({ kind: 'chains', key: 'chains', payload })),
  );
  const verbs: unknown[] = [];
  await seed(path, async ({ read }) => {
    for (const { entry } of await read.audit.page({ after: 0, limit: 10 }))
      verbs.push(entry.verb, entry.chain);
  });
  expect(verbs).toEqual(['define', 'deploy', 'pause', 'deploy', 'resume', 'deploy', 'disable', 'pr-review']);
});

test('chain show tells where a stored chain applies, its status and since when, and its definition', {
  tags: 'slow',
}, async () => {
  const { run } = await world();
  await run('define', 'chains/deploy.yaml', '--owner', 'acme');
  await run('pause', 'deploy', '--repo', 'acme/shop');
  await run('define', 'chains/deploy.yaml', '--owner', 'other');
  const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d UTC`;

  const { stdout } = await run('show', 'deploy', '--repo', 'acme/shop');
  expect(stdout).toMatch(
    /^deploy \(defined by the operator: acme\/shop\)\nFires on manual\.fired\.\n\nci {2}skill ci\n/,
  );
  expect(stdout).toMatch(new RegExp(`^Stored for acme/shop: paused since ${time}, by an operator\\.$`, 'm'));
  expect(stdout).toContain('Definition:\n    name: deploy\n    trigger: { event: manual.fired }\n');
  expect(stdout).not.toContain('other');

  const everywhere = (await run('show', 'deploy')).stdout;
  expect(everywhere).toMatch(/^deploy \(defined by the operator: acme\/\*\)$/m);
  expect(everywhere).toMatch(
    new RegExp(`^Stored for acme/\\*: active since ${time}, by an operator\\.$`, 'm'),
  );
  expect(everywhere).toMatch(/^Stored for other\/\*: active since/m);
  expect(parsed(await run('show', 'deploy', '--owner', 'other', '--json'))).toMatchObject({
    name: 'deploy',
    scope: 'stored',
    stored: [
      { owner: 'other', repository: null, status: 'active', status_by: { kind: 'operator' }, runs: [] },
    ],
  });
});

test('chain show tells the last runs of a stored chain, newest first', { tags: 'slow' }, async () => {
  const { path, run } = await world();
  await run('pause', 'pr-review', '--repo', 'acme/shop');
  await seed(path, async (storage) => {
    for (const [id, repository] of [
      ['run_1', 'acme/shop'],
      ['run_2', 'acme/other'],
      ['run_3', 'acme/shop'],
    ] as const)
      await storage.transaction((tx) => tx.runs.insert(runState(id, { repository, chain: 'pr-review' })));
  });
  const shown = parsed(await run('show', 'pr-review', '--repo', 'acme/shop', '--json')) as {
    scope: string;
    stored: { status: string; runs: { id: string }[] }[];
  };
  expect(shown.scope).toBe('shipped');
  expect(shown.stored).toMatchObject([{ status: 'paused', runs: [{ id: 'run_3' }, { id: 'run_1' }] }]);
  expect((await run('show', 'pr-review', '--repo', 'acme/shop')).stdout).toContain('Last runs:\n');
});

test('chain show of a file chain needs no database', async () => {
  const { run } = await world();
  expect(await run('show', 'pr-review')).toMatchObject({ code: 0 });
  expect((await run('show', 'pr-review')).stdout).not.toContain('Stored for');
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

test('pausing a chain that nothing here knows says so and names the nearest, and pauses it all the same', {
  tags: 'slow',
}, async () => {
  const { run } = await world();
  const at = ['--repo', 'acme/shop'];
  await run('define', 'chains/deploy.yaml', ...at);
  expect(await run('pause', 'depoy', ...at)).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^Paused depoy for acme\/shop: /),
    stderr:
      'No chain depoy has run for acme/shop so far, and none is stored or ships with Countersign. Did you mean deploy?\n',
  });
  expect((await run('pause', 'pr-review', ...at)).stderr).toBe('');
});

test('a chain that ran is known when it is paused, in its repository and for its owner', {
  tags: 'slow',
}, async () => {
  const { path, run } = await world();
  await seed(path, (storage) =>
    storage.transaction((tx) =>
      tx.runs.insert(runState('run_1', { repository: 'acme/shop', chain: 'ship' })),
    ),
  );
  expect((await run('pause', 'ship', '--repo', 'acme/shop')).stderr).toBe('');
  expect((await run('disable', 'ship', '--owner', 'Acme')).stderr).toBe('');
  expect((await run('pause', 'ship', '--owner', 'other')).stderr).toContain(
    'No chain ship has run for other/*',
  );
});

test('a chain about which nothing is stored cannot be resumed, and the nearest is named', async () => {
  const { run } = await world();
  await run('pause', 'pr-review', '--owner', 'acme');
  expect(await run('resume', 'pr-reviw', '--repo', 'acme/shop')).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'Nothing is stored about a chain pr-reviw for acme/shop, so there is nothing to resume. Did you mean pr-review?\n',
  });
  expect((await run('resume', 'pr-review', '--repo', 'acme/shop')).code).toBe(0);
});

test('chain show names the nearest of the stored chains, too', async () => {
  const { run } = await world();
  await run('define', 'chains/deploy.yaml', '--owner', 'acme');
  expect((await run('show', 'depoy')).stderr).toBe('There is no chain depoy; did you mean deploy?\n');
});
