import { expect, test } from 'vitest';
import { REPO } from '../support/harness.ts';
import { approvalIdAfterCi, labelChain } from './support-configuration.ts';
import { CHAINS, CI_AND_MERGE, only, SETTINGS, scenes, UPDATES_SHOWN_MS } from './support-scene.ts';

const start = scenes();

test('a pull request that fixes invalid settings gets the result that its own are valid', {
  tags: 'slow',
}, async () => {
  const scene = await start({ [SETTINGS]: 'countersing: {}\n' });
  const { headSha } = await scene.open({ files: { [SETTINGS]: 'countersign: { count: 2 }\n' } });
  expect(scene.verdicts(headSha)).toEqual({
    'countersign / base configuration': 'neutral',
    'countersign / configuration': 'success',
  });
});

test('a chain that a pull request adds is checked, but does not run for it', { tags: 'slow' }, async () => {
  const scene = await start({
    [SETTINGS]: 'chains: [new, first]\n',
    [`${CHAINS}/first.yaml`]: labelChain('first', 'first'),
  });
  const { number, headSha } = await scene.open({
    files: { [`${CHAINS}/new.yaml`]: labelChain('new', 'new') },
  });
  expect(scene.verdicts(headSha)).toEqual({
    // On the base branch, the settings name a chain that does not exist yet.
    'countersign / base configuration': 'neutral',
    'countersign / configuration': 'success',
    'countersign / first': 'success',
  });
  expect(scene.github.labels(REPO, number)).toEqual(['first']);
  expect(scene.check(headSha, 'configuration')).toMatchObject({
    title: '1 configuration file checked, no errors',
    annotations: [],
  });
});

test('a step that can never run is a warning at its line, and the check passes', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ first: labelChain('first', 'first') }));
  const odd = `name: first\ntrigger: { event: pr.opened }\nsteps:\n  - skill: ci\n    condition: "{{ false }}"\n`;
  const { headSha } = await scene.open({ files: { [`${CHAINS}/first.yaml`]: odd } });
  expect(scene.check(headSha, 'configuration')).toMatchObject({
    conclusion: 'success',
    title: '1 configuration file checked, no errors, 1 warning',
    annotations: [
      { level: 'warning', startLine: 5, message: expect.stringContaining('its condition is never true') },
    ],
  });
});

test('a chain that would fire a chain of the base in turn is a warning at its trigger', {
  tags: 'slow',
}, async () => {
  const hears = (name: string, chain: string) =>
    `name: ${name}\ntrigger: { event: invocation.completed, filter: { chain: ${chain} } }\nsteps:\n  - { id: go, skill: ci }\n`;
  const scene = await start({ [`${CHAINS}/first.yaml`]: hears('first', 'second') });
  const { headSha } = await scene.open({ files: { [`${CHAINS}/second.yaml`]: hears('second', 'first') } });
  expect(scene.check(headSha, 'configuration')).toMatchObject({
    conclusion: 'success',
    annotations: [
      {
        level: 'warning',
        startLine: 2,
        message: expect.stringContaining('this chain and first can fire each other'),
      },
    ],
  });
});

test('errors in a chain that a pull request changes appear at their lines', { tags: 'slow' }, async () => {
  const scene = await start(only({ first: labelChain('first', 'first') }));
  const broken = `name: first
trigger: { event: pr.opened }
steps:
  - action: gh-labl
  - id: two
    skill: ci
    depends_on: [three]
`;
  const { headSha } = await scene.open({
    files: { [`${CHAINS}/first.yaml`]: broken, [SETTINGS]: 'noise: loud\nchains: [first, nope]\n' },
  });
  const check = scene.check(headSha, 'configuration');
  expect(check).toMatchObject({ conclusion: 'failure', title: '4 errors in the configuration' });
  expect(
    check?.annotations.map(
      ({ path, startLine, level, message }) =>
        `${level} ${path}:${startLine} ${message.replace(/(there is no action .*) Allowed: .*/, '$1 Allowed: …')}`,
    ),
  ).toMatchInlineSnapshot(`
    [
      "failure .github/countersign.yml:1 .github/countersign.yml:1:8: "noise" cannot be "loud"; allowed: normal, quiet",
      "failure .github/countersign.yml:2 .github/countersign.yml:2:17: there is no chain "nope"; allowed: backport, dependabot, first, migrations, nightly-health, pr-review, release-notes",
      "failure .github/countersign/chains/first.yaml:4 .github/countersign/chains/first.yaml:4:13: there is no action "gh-labl": did you mean "gh-label"? Allowed: …",
      "failure .github/countersign/chains/first.yaml:7 .github/countersign/chains/first.yaml:7:18: there is no step "three"; allowed: gh-labl, two",
    ]
  `);
  expect(scene.check(headSha, 'first')?.conclusion).toBe('success');
});

test('a pull request is warned about configuration files that nothing would read, and about chains that it would break', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ ship: CI_AND_MERGE, lab: labelChain('lab', 'lab') }));
  const { headSha } = await scene.open({
    files: {
      [`${CHAINS}/ship.yaml`]: null,
      [`${CHAINS}/sub/ship.yaml`]: `${CI_AND_MERGE}step: []\n`,
      [`${CHAINS}/twin.yaml`]: labelChain('lab', 'twin'),
      '.github/countersign.yaml': 'noise: loud\n',
    },
  });
  expect(
    scene.check(headSha, 'configuration')?.annotations.map(({ message }) => message),
  ).toMatchInlineSnapshot(`
    [
      ".github/countersign.yaml:1:1: settings are read from countersign.yml only: rename this file",
      ".github/countersign.yml:1:10: there is no chain "ship"; allowed: backport, dependabot, lab, migrations, nightly-health, pr-review, release-notes",
      ".github/countersign/chains/sub/ship.yaml:1:1: chains are not read from folders in .github/countersign/chains: move this file to .github/countersign/chains/ship.yaml",
      ".github/countersign/chains/sub/ship.yaml:10:1: unknown key "step": did you mean "steps"? Allowed: name, description, trigger, inputs, max_parallel, steps",
      ".github/countersign/chains/twin.yaml:1:1: the chain name "lab" is also used by .github/countersign/chains/lab.yaml",
    ]
  `);
});

test('a chain that nothing names can be removed without an error', { tags: 'slow' }, async () => {
  const scene = await start({ [`${CHAINS}/first.yaml`]: labelChain('first', 'first') });
  const { headSha } = await scene.open({ files: { [`${CHAINS}/first.yaml`]: null } });
  expect(scene.check(headSha, 'configuration')).toMatchObject({
    conclusion: 'success',
    title: '1 configuration file checked, no errors',
  });
});

test('a chain file that another push fixes gets its own check run', { tags: 'slow' }, async () => {
  const scene = await start(only({ first: labelChain('first', 'first') }));
  await scene.open({ files: { [`${CHAINS}/new.yaml`]: 'name: new\n' } });
  const sha = await scene.github.push({
    repo: REPO,
    branch: 'change',
    author: 'ada',
    files: { [`${CHAINS}/new.yaml`]: labelChain('new', 'new') },
  });
  await scene.advance(UPDATES_SHOWN_MS);
  expect(scene.verdicts(sha)).toMatchObject({ 'countersign / configuration': 'success' });
});

test('a chain file that is not YAML, or far too large, is reported without a crash', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ first: labelChain('first', 'first') }));
  const { headSha } = await scene.open({
    files: {
      [`${CHAINS}/large.yaml`]: `# ${'x'.repeat(70_000)}\n`,
      [`${CHAINS}/binary.yaml`]: new Uint8Array([0, 255, 254, 0, 1]),
      [`${CHAINS}/bomb.yaml`]: `a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n${'d: [*c]\n'.repeat(30)}`,
    },
  });
  const check = scene.check(headSha, 'configuration');
  expect(check?.conclusion).toBe('failure');
  expect(new Set(check?.annotations.map(({ path }) => path.slice(CHAINS.length + 1)))).toEqual(
    new Set(['large.yaml', 'binary.yaml', 'bomb.yaml']),
  );
  expect(scene.errors).toEqual([]);
});

test('the first hundred of hundreds of chain files in a pull request are read, and the others are named', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ first: labelChain('first', 'first') }));
  const files = Object.fromEntries(
    Array.from({ length: 130 }, (_, index) => [
      `${CHAINS}/c${1000 + index}.yaml`,
      labelChain(`c${index}`, 'c'),
    ]),
  );
  const before = scene.github.requests.length;
  const { headSha } = await scene.open({ files });
  expect(scene.check(headSha, 'configuration')).toMatchObject({
    conclusion: 'failure',
    // One for the chain that is not among the first hundred any more.
    title: '31 errors in the configuration',
  });
  expect(scene.check(headSha, 'configuration')?.summary).toContain('not checked: only the first 100');
  const read = scene.github.requests
    .slice(before)
    .filter(({ path, status }) => path.includes('/git/blobs/') && status === 200);
  expect(read.length).toBeLessThan(110);
});

test('a pull request that adds a hundred-and-first chain file shows which file is no longer read', {
  tags: 'slow',
}, async () => {
  const chain = (name: string) =>
    [`${CHAINS}/${name}.yaml`, labelChain(name, 'c').replace('pr.opened', 'pr.closed')] as const;
  const scene = await start(
    Object.fromEntries(Array.from({ length: 100 }, (_, index) => chain(`c${1000 + index}`))),
  );
  const { headSha } = await scene.open({ files: Object.fromEntries([chain('another')]) });
  expect(scene.check(headSha, 'configuration')?.summary).toContain(
    'c1099.yaml:1:1` only the first 100 chain files of a folder are read',
  );
});

test('a chain file beyond the hundredth still replaces the shipped chain of its name', {
  tags: 'slow',
}, async () => {
  const many = Array.from({ length: 100 }, (_, index) => [
    `${CHAINS}/c${1000 + index}.yaml`,
    labelChain(`c${index}`, 'c').replace('pr.opened', 'pr.closed'),
  ]);
  const scene = await start({
    ...Object.fromEntries(many),
    [`${CHAINS}/pr-review.yaml`]: labelChain('pr-review', 'ours'),
  });
  const { headSha } = await scene.open();
  expect(scene.verdicts(headSha)).toEqual({ 'countersign / base configuration': 'neutral' });
  expect(scene.check(headSha, 'base configuration')?.summary).toContain('only the first 100 chain files');
});

test('a pull request that removes requires_approval from the chain still needs a countersign', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ ship: CI_AND_MERGE }));
  const lax = CI_AND_MERGE.replace('requires_approval: true', 'requires_approval: false');
  const { number, headSha } = await scene.open({ files: { [`${CHAINS}/ship.yaml`]: lax } });
  await approvalIdAfterCi(scene, number, headSha);
  await scene.advance(60_000);
  expect(scene.github.merges).toEqual([]);
  expect(scene.check(headSha, 'configuration')).toMatchObject({ conclusion: 'failure' });
});

test('a pull request that lets its author’s friends countersign changes nothing for itself', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ ship: CI_AND_MERGE }));
  const settings =
    'chains: [ship]\ncountersign: { permission: write, users: [will, otto], approve: [heart] }\n';
  const { number, headSha } = await scene.open({ files: { [SETTINGS]: settings } });
  const question = await approvalIdAfterCi(scene, number, headSha);
  await scene.github.react(REPO, question, 'will', 'rocket');
  await scene.github.react(REPO, question, 'will', 'heart');
  await scene.github.react(REPO, question, 'mia', 'heart');
  await scene.advance(30_000);
  expect(scene.github.merges).toEqual([]);
});

test('a pull request that turns its own chain off is still subject to it', { tags: 'slow' }, async () => {
  const scene = await start(only({ ship: CI_AND_MERGE }));
  const { headSha } = await scene.open({
    files: { [SETTINGS]: 'chains: []\n', [`${CHAINS}/ship.yaml`]: null },
  });
  expect(scene.verdicts(headSha)).toEqual({
    'countersign / configuration': 'success',
    'countersign / ship': 'in_progress',
  });
});

test('a chain change on the base branch does not affect the steps of a run under way, and stops it before people are asked', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ ship: CI_AND_MERGE }));
  const { number, headSha } = await scene.open();
  const laxer =
    'name: ship\ntrigger: { event: pr.opened }\nsteps: [{ action: gh-label, with: { labels: [changed] } }]\n';
  await scene.github.push({
    repo: REPO,
    branch: 'main',
    author: 'mia',
    files: { [`${CHAINS}/ship.yaml`]: laxer },
  });
  await scene.github.addLabel(REPO, number, 'will', 'wake');
  await scene.settle();
  expect(scene.check(headSha, 'ship')?.title).toBe('Waiting for CI: no check has reported yet');
  expect(scene.github.labels(REPO, number)).toEqual(['wake']);

  // Asking for a countersign of an outdated chain would be in vain.
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await scene.advance(UPDATES_SHOWN_MS);
  const [, first] = await scene.runs('ship');
  expect(first).toMatchObject({ status: 'cancelled', reason: { code: 'run.cancelled.chain_changed' } });
  expect(scene.github.merges).toEqual([]);
});

test('the next head uses the chain as it is then', { tags: 'slow' }, async () => {
  const scene = await start(only({ ship: CI_AND_MERGE }));
  const { number } = await scene.open();
  await scene.github.push({
    repo: REPO,
    branch: 'main',
    author: 'mia',
    files: { [`${CHAINS}/ship.yaml`]: labelChain('ship', 'changed') },
  });
  await scene.github.push({
    repo: REPO,
    branch: 'change',
    author: 'ada',
    files: { 'docs/page.txt': 'Again.\n' },
  });
  await scene.settle();
  expect(scene.github.labels(REPO, number)).toEqual(['changed']);
});

// A push names the files of its commits, but not the files that a force-push removed.
test('after a force-push of the base branch the chains are those of its new tip', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ first: labelChain('first', 'old') }));
  const old = scene.github.branch(REPO, 'main') ?? '';
  const files = { [`${CHAINS}/first.yaml`]: labelChain('first', 'new') };
  await scene.github.push({ repo: REPO, branch: 'main', author: 'mia', files });
  await scene.open({ branch: 'one' });
  await scene.github.push({
    repo: REPO,
    branch: 'main',
    author: 'mia',
    forceTo: old,
    files: { 'a.txt': 'a\n' },
  });
  await scene.settle();
  const { number } = await scene.open({ branch: 'two', files: { 'b.txt': 'b\n' } });
  expect(scene.github.labels(REPO, number)).toEqual(['old']);
});

test('a pull request to another protected base uses that base’s chains', { tags: 'slow' }, async () => {
  const scene = await start(only({ first: labelChain('first', 'main') }));
  scene.github.addRuleset(REPO, { branches: ['release'], approvals: 1, restrict: ['creations'] });
  await scene.github.push({
    repo: REPO,
    branch: 'release',
    author: 'mia',
    files: { [`${CHAINS}/first.yaml`]: labelChain('first', 'release') },
  });
  const { number } = await scene.open({ base: 'release' });
  expect(scene.github.labels(REPO, number)).toEqual(['release']);
});

test('the chains in a fork’s head are checked and govern nothing', async () => {
  const scene = await start(only({ first: labelChain('first', 'first') }));
  const { number, headSha } = await scene.open({
    author: 'otto',
    fork: 'otto/app',
    files: { [`${CHAINS}/first.yaml`]: labelChain('first', 'mine') },
  });
  expect(scene.github.labels(REPO, number)).toEqual(['first']);
  expect(scene.verdicts(headSha)).toMatchObject({ 'countersign / configuration': 'success' });
});
