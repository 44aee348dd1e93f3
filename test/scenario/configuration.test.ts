import { expect, test } from 'vitest';
import { REPO } from '../support/harness.ts';
import { approvalIdAfterCi, labelChain } from './support-configuration.ts';
import {
  CHAINS,
  CI_AND_MERGE,
  only,
  type Scene,
  SETTINGS,
  scenes,
  UPDATES_SHOWN_MS,
} from './support-scene.ts';

const start = scenes();

/** What an organisation gives all its repositories. The stand-in knows no symbolic HEAD, so a branch has that name. */
function organisation(scene: Scene, files: Record<string, string>): void {
  scene.github.addRepository({ owner: 'octo', name: '.github', files });
}

test('a repository’s chain replaces the shipped one with its name', async () => {
  const scene = await start({ [`${CHAINS}/mine.yaml`]: labelChain('pr-review', 'ours') });
  const { number, headSha } = await scene.open();
  expect(scene.github.labels(REPO, number)).toEqual(['ours']);
  expect(scene.verdicts(headSha)).toEqual({ 'countersign / pr-review': 'success' });
});

test('an organisation’s chain runs in its repositories', async () => {
  const scene = await start();
  organisation(scene, { 'countersign/chains/pr-review.yaml': labelChain('pr-review', 'of-octo') });
  const { number } = await scene.open();
  expect(scene.github.labels(REPO, number)).toEqual(['of-octo']);
});

test('a repository’s chain replaces the organisation’s with its name', { tags: 'slow' }, async () => {
  const scene = await start({ [`${CHAINS}/pr-review.yml`]: labelChain('pr-review', 'ours') });
  organisation(scene, { 'countersign/chains/pr-review.yaml': labelChain('pr-review', 'of-octo') });
  const { number } = await scene.open();
  expect(scene.github.labels(REPO, number)).toEqual(['ours']);
});

test('errors in contracts, rules, gates and memory are all reported at once on the pull request that adds them', {
  tags: 'slow',
}, async () => {
  const scene = await start();
  const { headSha } = await scene.open({
    files: {
      [`${CHAINS}/slips.yaml`]: `
name: slips
trigger: { event: pr.opened }
steps:
  - id: ci
    skill: ci
    artifacts: { expected: [{ id: report, path: ../report.json }] }
    expect: [{ rule_id: a, field: test_count, check: range, min: 3, max: 1 }]
    gates: { pre: [{ id: owners, criteria: [{ id: a, if: "{{ steps.lint.outcome.passed }}" }] }] }
    output_mapping: { risk: "{{ outcome.checks }}" }
`,
    },
  });
  const check = scene.check(headSha, 'configuration');
  expect(check?.conclusion).toBe('failure');
  const told = check?.annotations.map(({ message }) => message).join('\n');
  expect(told).toMatchInlineSnapshot(`
    ".github/countersign/chains/slips.yaml:7:49: this cannot be a path: it has an empty, "." or ".." part
    .github/countersign/chains/slips.yaml:8:66: no number is at least 3 and at most 1: "min" is greater than "max"
    .github/countersign/chains/slips.yaml:9:62: there is no step "lint"; allowed: ci
    .github/countersign/chains/slips.yaml:10:23: unknown key "risk": did you mean "risks"? Allowed: entities, options, criteria, evidence, risks, hypotheses, uncertainties, decisions, messages"
  `);
});

test('the settings say which chains run', { tags: 'slow' }, async () => {
  const scene = await start({
    [SETTINGS]: 'chains: [first]\n',
    [`${CHAINS}/first.yaml`]: labelChain('first', 'first'),
    [`${CHAINS}/second.yaml`]: labelChain('second', 'second'),
  });
  const { number, headSha } = await scene.open();
  expect(scene.github.labels(REPO, number)).toEqual(['first']);
  expect(scene.verdicts(headSha)).toEqual({ 'countersign / first': 'success' });
});

test('a name in the settings that no chain has is reported with its place, and the other chains run', async () => {
  const scene = await start({
    [SETTINGS]: 'chains: [first, pr-reveiw, broken]\n',
    [`${CHAINS}/first.yaml`]: labelChain('first', 'first'),
    [`${CHAINS}/broken.yaml`]: 'name: broken\nsteps: nothing\n',
  });
  const { headSha } = await scene.open({
    files: {
      [SETTINGS]: 'chains: [first, second, third]\n',
      [`${CHAINS}/x.yaml`]: labelChain('second', 'x'),
    },
  });
  expect(scene.verdicts(headSha)).toEqual({
    'countersign / base configuration': 'neutral',
    'countersign / configuration': 'failure',
    'countersign / first': 'success',
  });
  const diagnostics = (check: string) =>
    scene
      .check(headSha, check)
      ?.summary?.split('\n')
      .filter((line) => line.includes('countersign.yml'));
  expect({
    base: diagnostics('base configuration'),
    head: diagnostics('configuration'),
  }).toMatchInlineSnapshot(`
    {
      "base": [
        "- \`.github/countersign.yml:1:17\` there is no chain "pr-reveiw": did you mean "pr-review"? Allowed: backport, broken, dependabot, first, migrations, nightly-health, pr-review, release-notes",
      ],
      "head": [
        "- \`.github/countersign.yml:1:25\` there is no chain "third"; allowed: backport, broken, dependabot, first, migrations, nightly-health, pr-review, release-notes, second",
      ],
    }
  `);
});

test('an empty list of chains runs none, and nothing is reported', { tags: 'slow' }, async () => {
  const scene = await start({ [SETTINGS]: 'chains: []\n' });
  const { number, headSha } = await scene.open();
  expect(scene.verdicts(headSha)).toEqual({});
  expect(scene.github.comments(REPO, number)).toEqual([]);
});

test('the repository’s settings decide the merge method and the reactions that count', {
  tags: 'slow',
}, async () => {
  const scene = await start(
    only(
      { ship: CI_AND_MERGE },
      'merge: { method: rebase }\ncountersign: { permission: admin, approve: [heart] }\n',
    ),
  );
  const { number, headSha } = await scene.open();
  const question = await approvalIdAfterCi(scene, number, headSha);
  await scene.github.react(REPO, question, 'mia', 'heart');
  await scene.github.react(REPO, question, 'max', 'rocket');
  await scene.advance(10_000);
  expect(scene.github.pullRequest(REPO, number).merged).toBe(false);
  await scene.github.react(REPO, question, 'max', 'heart');
  await scene.advance(10_000);
  expect(scene.github.pullRequest(REPO, number)).toMatchObject({ merged: true, mergeMethod: 'rebase' });
});

test('the organisation’s settings apply where the repository sets nothing', { tags: 'slow' }, async () => {
  const scene = await start(only({ ship: CI_AND_MERGE }, 'merge: { method: merge }\n'));
  organisation(scene, { [SETTINGS]: 'merge: { method: rebase }\ncountersign: { count: 2 }\n' });
  const { number, headSha } = await scene.open();
  const question = await approvalIdAfterCi(scene, number, headSha);
  await scene.github.react(REPO, question, 'mia', 'rocket');
  await scene.advance(10_000);
  expect(scene.check(headSha, 'ship')?.title).toBe('Waiting for maintainers to countersign: 1 of 2 did');
  await scene.github.react(REPO, question, 'max', 'rocket');
  await scene.advance(10_000);
  expect(scene.github.pullRequest(REPO, number)).toMatchObject({ merged: true, mergeMethod: 'merge' });
});

test('an invalid chain on the base branch is reported in a neutral check run, and the other chains run', {
  tags: 'slow',
}, async () => {
  const scene = await start({
    [SETTINGS]: 'chains: [broken, first]\n',
    [`${CHAINS}/broken.yaml`]: 'name: broken\ntrigger: { event: pr.opend }\nsteps:\n  - { skil: ci }\n',
    [`${CHAINS}/first.yaml`]: labelChain('first', 'first'),
  });
  const { number, headSha } = await scene.open();
  expect(scene.verdicts(headSha)).toEqual({
    'countersign / base configuration': 'neutral',
    'countersign / first': 'success',
  });
  expect(scene.github.labels(REPO, number)).toEqual(['first']);
  const told = scene.check(headSha, 'base configuration');
  expect(told?.title).toBe('3 errors in the configuration on main');
  expect(told?.summary?.replace(/\(`[0-9a-f]{7}`\)/, '(`…`)')).toMatchInlineSnapshot(`
    "The configuration on \`main\` (\`…\`) cannot be read as it is:

    - \`.github/countersign/chains/broken.yaml:2:19\` "event" cannot be "pr.opend": did you mean "pr.opened"? Allowed: pr.opened, pr.updated, pr.labeled, pr.review\\_submitted, pr.merged, pr.closed, issue.created, issue.labeled, file.changed, ci.changed, release.published, invocation.completed, manual.fired
    - \`.github/countersign/chains/broken.yaml:4:5\` a step needs a skill or an action
    - \`.github/countersign/chains/broken.yaml:4:7\` unknown key "skil": did you mean "skill"? Allowed: id, skill, action, depends\\_on, condition, with, timeout, retry, on\\_failure, requires\\_approval, validate, expect, artifacts, output\\_mapping, gates

    This pull request did not cause it. What the broken files define does not run until they are corrected; other chains are not affected.

    **Next:** correct the files on \`main\`. \`countersign chain lint\` finds the same errors on your machine."
  `);
});

test('an invalid chain does not let the shipped one with its name run instead', async () => {
  const scene = await start({ [`${CHAINS}/pr-review.yaml`]: 'name: pr-review\nsteps: nothing\n' });
  const { headSha } = await scene.open();
  expect(scene.verdicts(headSha)).toEqual({ 'countersign / base configuration': 'neutral' });
});

test('a file that is not valid YAML is reported with its line', { tags: 'slow' }, async () => {
  const scene = await start({ [`${CHAINS}/pr-review.yaml`]: 'name: pr-review\nsteps: [\n' });
  const { headSha } = await scene.open();
  expect(scene.check(headSha, 'base configuration')?.summary).toMatch(/pr-review\.yaml:\d+:\d+/);
});

test('an invalid chain on the base branch is reported once, however many events arrive', async () => {
  const scene = await start({ [`${CHAINS}/pr-review.yaml`]: 'name: pr-review\nsteps: nothing\n' });
  const { number, headSha } = await scene.open();
  await scene.github.addLabel(REPO, number, 'will', 'later');
  await scene.github.editPullRequest(REPO, number, 'ada', { title: 'Another title' });
  await scene.advance(UPDATES_SHOWN_MS);
  // They are written at the same time.
  expect(
    scene.github
      .checkRuns(REPO, headSha)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['countersign / base configuration', 'countersign: main']);
});

test('a repository without the invalid file is not affected', { tags: 'slow' }, async () => {
  const scene = await start({
    [`${CHAINS}/broken.yaml`]: 'nothing: at all\n',
    [SETTINGS]: 'chains: [first]\n',
  });
  scene.github.addRepository({
    owner: 'octo',
    name: 'other',
    files: {
      'a.txt': 'a\n',
      [SETTINGS]: 'chains: [first]\n',
      [`${CHAINS}/first.yaml`]: labelChain('first', 'first'),
    },
  });
  const other = await scene.github.openPullRequest({
    repo: 'octo/other',
    author: 'ada',
    branch: 'b',
    title: 'B',
    files: { 'b.txt': 'b\n' },
  });
  await scene.settle();
  const names = scene.github.checkRuns('octo/other', other.headSha).map(({ name }) => name);
  expect(names).toEqual(['countersign / first']);
});

test('an invalid chain of the organisation is reported where it would have run, with its file', {
  tags: 'slow',
}, async () => {
  const scene = await start({ [SETTINGS]: 'chains: [of-octo]\n' });
  organisation(scene, { 'countersign/chains/of-octo.yaml': 'name: of-octo\nsteps: nothing\n' });
  const { headSha } = await scene.open();
  expect(scene.check(headSha, 'base configuration')?.summary).toContain(
    'octo/.github:countersign/chains/of-octo.yaml',
  );
});

test('nothing runs with invalid settings, and the reason is shown', { tags: 'slow' }, async () => {
  const scene = await start({ [SETTINGS]: 'countersing: { count: 2 }\nchains: [fist]\n' });
  const { number, headSha } = await scene.open();
  expect(scene.verdicts(headSha)).toEqual({ 'countersign / base configuration': 'neutral' });
  expect(scene.github.comments(REPO, number)).toEqual([]);
  const told = scene.check(headSha, 'base configuration')?.summary;
  expect(told).toContain('did you mean');
  expect(told).toContain('there is no chain "fist"');
});

test('the check run says that no chain runs with invalid settings', { tags: 'slow' }, async () => {
  const scene = await start({ [SETTINGS]: 'countersing: { count: 2 }\n' });
  const { headSha } = await scene.open();
  expect(scene.check(headSha, 'base configuration')?.summary).not.toContain('other chains are not affected');
});

test('invalid settings of the organisation stop its repositories', { tags: 'slow' }, async () => {
  const scene = await start(only({ first: labelChain('first', 'first') }));
  organisation(scene, { [SETTINGS]: 'countersign: { count: 0 }\n' });
  const { number, headSha } = await scene.open();
  expect(scene.verdicts(headSha)).toEqual({ 'countersign / base configuration': 'neutral' });
  expect(scene.github.labels(REPO, number)).toEqual([]);
});
