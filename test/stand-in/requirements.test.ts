import { expect, it } from 'vitest';
import type { CheckReport } from '../support/github/actions.ts';
import type { CheckInput } from '../support/github/protection.ts';

import { AT, openChange, REPO, startWorld, type World } from './support.ts';

// What GitHub requires before it merges, the same for the API as for the button. Sources:
// - which conclusions are green, and that a check and a status with one name must both pass:
// https://docs.github.com/en/pull-requests/how-tos/merge-and-close-pull-requests/troubleshooting-required-status-checks
// - that a check can be pinned to an app: https://docs.github.com/en/rest/branches/branch-protection (`checks[].app_id`)
// - the messages: https://github.com/bors-ng/bors-ng/issues/1493 (protection), https://github.com/akuity/kargo/issues/6397
// (rulesets)

interface Checked extends World {
  headSha: string;
  report: (report: Partial<CheckReport>) => Promise<number>;
}

async function startChecked(): Promise<Checked> {
  const world = await startWorld();
  const { headSha } = await openChange(world.github);
  const report = (change: Partial<CheckReport>) =>
    world.github.reportCheck(REPO, headSha, { name: 'build', status: 'completed', ...change });
  return { ...world, headSha, report };
}

/** GitHub's answer when the app merges: `merged`, or status and message. */
async function answerTo({ octokit }: World): Promise<string> {
  try {
    await octokit.pulls.merge({ ...AT, pull_number: 1 });
    return 'merged';
  } catch (error) {
    const { status, response } = error as { status: number; response: { data: { message: string } } };
    return `${status} ${response.data.message}`;
  }
}

it.each<[string, string, (world: Checked) => Promise<unknown>]>([
  ['nobody reported', '405 Required status check "build" is expected.', async () => {}],
  ['is queued', '405 Required status check "build" is queued.', ({ report }) => report({ status: 'queued' })],
  [
    'runs',
    '405 Required status check "build" is in progress.',
    ({ report }) => report({ status: 'in_progress' }),
  ],
  [
    'failed',
    '405 Required status check "build" is failing.',
    ({ report }) => report({ conclusion: 'failure' }),
  ],
  [
    'was cancelled',
    '405 Required status check "build" is failing.',
    ({ report }) => report({ conclusion: 'cancelled' }),
  ],
  [
    'requires an action',
    '405 Required status check "build" is failing.',
    ({ report }) => report({ conclusion: 'action_required' }),
  ],
  ['succeeded', 'merged', ({ report }) => report({ conclusion: 'success' })],
  ['ended neutral', 'merged', ({ report }) => report({ conclusion: 'neutral' })],
  ['was skipped', 'merged', ({ report }) => report({ conclusion: 'skipped' })],
  [
    'is pending as a status',
    '405 Required status check "build" is pending.',
    ({ github, headSha }) => github.setStatus(REPO, headSha, { context: 'build', state: 'pending' }),
  ],
  [
    'succeeded as a status',
    'merged',
    ({ github, headSha }) => github.setStatus(REPO, headSha, { context: 'build', state: 'success' }),
  ],
  [
    'succeeded as a run and failed as a status',
    '405 Required status check "build" is failing.',
    async ({ github, headSha, report }) => {
      await report({ conclusion: 'success' });
      await github.setStatus(REPO, headSha, { context: 'build', state: 'failure' });
    },
  ],
  [
    'succeeded and is running again',
    '405 Required status check "build" is in progress.',
    async ({ report }) => {
      await report({ conclusion: 'success' });
      await report({ status: 'in_progress' });
    },
  ],
  [
    'failed and succeeded when it ran again',
    'merged',
    async ({ report }) => {
      await report({ conclusion: 'failure' });
      await report({ status: 'in_progress' });
      await report({ conclusion: 'success' });
    },
  ],
])('a required check that %s gives the merge the answer "%s"', async (_, answer, before) => {
  const world = await startChecked();
  world.github.requireChecks(REPO, 'main', ['build']);
  await before(world);
  expect(await answerTo(world)).toBe(answer);
});

it.each<[string, string]>([
  ['forger', '405 Required status check "build" is expected.'],
  ['builder', 'merged'],
])('a check that is pinned to one app and that %s reported gives the answer "%s"', async (app, answer) => {
  const world = await startChecked();
  world.github.requireChecks(REPO, 'main', [{ context: 'build', app: 'builder' }]);
  await world.report({ conclusion: 'success', app });
  expect(await answerTo(world)).toBe(answer);
});

it('a status that another app reported does not satisfy a check that is pinned to an app', async () => {
  const world = await startChecked();
  world.github.requireChecks(REPO, 'main', [{ context: 'build', app: 'builder' }]);
  await world.github.setStatus(REPO, world.headSha, { context: 'build', state: 'success' });
  expect(await answerTo(world)).toBe('405 Required status check "build" is expected.');
});

it.each<[string, CheckInput[], string]>([
  ['all missing', ['a', 'b'], '405 2 of 2 required status checks are expected.'],
  [
    'one missing and one red',
    ['a', 'build', 'green'],
    '405 2 of 3 required status checks have not succeeded: 1 expected and 1 failing.',
  ],
])('several checks, %s, are counted', async (_, required, answer) => {
  const world = await startChecked();
  world.github.requireChecks(REPO, 'main', required);
  await world.report({ conclusion: 'failure' });
  await world.report({ name: 'green', conclusion: 'success' });
  expect(await answerTo(world)).toBe(answer);
});

it('a ruleset gives its reasons in a list', async () => {
  const world = await startChecked();
  world.github.addRuleset(REPO, { checks: ['build'], approvals: 1 });
  expect(await answerTo(world)).toBe(
    '405 Repository rule violations found\n\n' +
      'At least 1 approving review is required by reviewers with write access.\n\n' +
      'Required status check "build" is expected.\n\n',
  );
});

it.each<[string, boolean]>([
  ['main', true],
  ['release/*', false],
  ['~DEFAULT_BRANCH', true],
  ['~ALL', true],
])('a ruleset for %s applies to main: %s', async (pattern, holds) => {
  const { github, octokit } = await startWorld();
  github.addRuleset(REPO, { branches: [pattern], checks: ['build'] });
  const { data } = await octokit.repos.getBranchRules({ ...AT, branch: 'main' });
  expect(data.map(({ type }) => type)).toEqual(holds ? ['required_status_checks'] : []);
});

// Checks belong to a commit, and not to pull requests: https://docs.github.com/en/rest/checks/runs
it('a check that is green on a head is green for every base that the head should merge into', async () => {
  const world = await startChecked();
  const { github } = world;
  await github.push({ repo: REPO, branch: 'release', author: 'maya' });
  for (const base of ['main', 'release']) github.requireChecks(REPO, base, ['build']);
  await world.report({ conclusion: 'success' });
  await github.editPullRequest(REPO, 1, 'eve', { base: 'release' });
  expect(await answerTo(world)).toBe('merged');
});

it('a check that only another base requires does not block the merge', async () => {
  const world = await startChecked();
  world.github.requireChecks(REPO, 'release', ['build']);
  expect(await answerTo(world)).toBe('merged');
});

it.each([
  ['nobody', [], 'At least 1 approving review is required by reviewers with write access.'],
  ['somebody who cannot write', [['rita', 'APPROVED']], 'At least 1 approving review is required'],
  ['a writer', [['walt', 'APPROVED']], undefined],
  [
    'a writer, while another asks for changes',
    [
      ['walt', 'APPROVED'],
      ['maya', 'CHANGES_REQUESTED'],
    ],
    'At least 1 approving review is required',
  ],
] as const)('one required approval is satisfied or not by %s', async (_, reviews, refusal) => {
  const world = await startChecked();
  world.github.protectBranch(REPO, 'main', { approvals: 1 });
  for (const [login, verdict] of reviews) await world.github.review(REPO, 1, login, verdict);
  const answer = await answerTo(world);
  if (refusal === undefined) expect(answer).toBe('merged');
  else expect(answer).toContain(refusal);
});

it('a strict branch refuses a head that lacks a commit of the base', async () => {
  const world = await startChecked();
  world.github.protectBranch(REPO, 'main', { checks: ['build'], strict: true });
  await world.report({ conclusion: 'success' });
  await world.github.push({ repo: REPO, branch: 'main', author: 'maya', files: { other: 'x' } });
  // https://docs.github.com/en/graphql/reference/enums#mergestatestatus
  expect((await world.octokit.pulls.get({ ...AT, pull_number: 1 })).data.mergeable_state).toBe('behind');
  expect(await answerTo(world)).toBe('405 Head branch is out of date. Review and try the merge again.');
});

// The button.
// https://docs.github.com/en/organizations/managing-user-access-to-your-organizations-repositories/managing-repository-roles/repository-roles-for-an-organization
// says who may merge;
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches
// that administrators can bypass a protection that does not include them.

it('the button refuses what the API refuses', async () => {
  const { github } = await startChecked();
  github.requireChecks(REPO, 'main', ['build']);
  expect(await github.pressMergeButton(REPO, 1, 'walt')).toEqual({
    kind: 'refused',
    status: 405,
    message: 'Required status check "build" is expected.',
  });
});

it('the button merges for a writer when everything that is required is satisfied', async () => {
  const { github, report } = await startChecked();
  github.requireChecks(REPO, 'main', ['build']);
  await report({ conclusion: 'neutral' });
  expect(await github.pressMergeButton(REPO, 1, 'walt', { method: 'squash' })).toMatchObject({
    kind: 'merged',
  });
  expect(github.pullRequest(REPO, 1)).toMatchObject({ mergedBy: 'walt', mergeMethod: 'squash' });
});

it.each(['rita', 'eve'])('%s, who cannot write, has no merge button', async (login) => {
  const { github } = await startChecked();
  expect(await github.pressMergeButton(REPO, 1, login)).toMatchObject({ kind: 'refused', status: 403 });
});

it.each([
  ['admin', false, true, 'merged'],
  ['admin', false, false, 'refused'],
  ['admin', true, true, 'refused'],
  ['maintain', false, true, 'refused'],
] as const)(
  'with the role %s, administrators included: %s, bypass requested: %s, the merge is %s',
  async (role, enforceAdmins, bypass, kind) => {
    const { github } = await startChecked();
    github.setPermission(REPO, 'ann', role);
    github.protectBranch(REPO, 'main', { checks: ['build'], enforceAdmins });
    expect((await github.pressMergeButton(REPO, 1, 'ann', { bypass })).kind).toBe(kind);
  },
);

it('nobody can bypass a ruleset that does not name their role', async () => {
  const { github } = await startChecked();
  github.setPermission(REPO, 'ann', 'admin');
  const id = github.addRuleset(REPO, { checks: ['build'] });
  expect((await github.pressMergeButton(REPO, 1, 'ann', { bypass: true })).kind).toBe('refused');
  github.removeRuleset(REPO, id);
  github.addRuleset(REPO, { checks: ['build'], bypass: ['admin'] });
  expect((await github.pressMergeButton(REPO, 1, 'ann', { bypass: true })).kind).toBe('merged');
});

// What the API shows of it. https://docs.github.com/en/rest/branches/branches#get-a-branch,
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch; that a ruleset alone makes a branch `protected`
// without showing any protection: https://github.com/hub4j/github-api/issues/2062

it.each<[string, (world: World) => unknown, object]>([
  [
    'nothing',
    () => undefined,
    {
      protected: false,
      protection: { enabled: false, required_status_checks: { enforcement_level: 'off' } },
    },
  ],
  [
    'its own protection',
    ({ github }) => github.requireChecks(REPO, 'main', [{ context: 'build', app: 'countersign' }]),
    {
      protected: true,
      protection: {
        enabled: true,
        required_status_checks: {
          enforcement_level: 'non_admins',
          contexts: ['build'],
          checks: [{ context: 'build', app_id: 9_001 }],
        },
      },
    },
  ],
  [
    'its own protection, which includes administrators',
    ({ github }) => github.protectBranch(REPO, 'main', { checks: ['build'], enforceAdmins: true }),
    { protection: { required_status_checks: { enforcement_level: 'everyone' } } },
  ],
  [
    'a ruleset',
    ({ github }) => github.addRuleset(REPO, { checks: ['build'] }),
    { protected: true, protection: { enabled: false } },
  ],
])('a branch with %s shows that', async (_, guard, said) => {
  const world = await startWorld();
  guard(world);
  const { data } = await world.octokit.repos.getBranch({ ...AT, branch: 'main' });
  expect(data).toMatchObject(said);
});

// https://github.com/crs-k/stale-branches/issues/1061
it('a ruleset that only forbids deleting branches makes them protected, and restricts nothing else', async () => {
  const { github, octokit } = await startWorld();
  github.addRuleset(REPO, { branches: ['~ALL'], restrict: ['deletions'] });
  await github.push({ repo: REPO, branch: 'evil', author: 'walt' });
  expect((await octokit.repos.getBranch({ ...AT, branch: 'evil' })).data.protected).toBe(true);
  const { data } = await octokit.repos.getBranchRules({ ...AT, branch: 'evil' });
  expect(data.map(({ type }) => type)).toEqual(['deletion']);
});

it('a rule names the app whose check it requires, and its ruleset', async () => {
  const { github, octokit } = await startWorld();
  const id = github.addRuleset(REPO, { checks: [{ context: 'build', app: 'countersign' }], strict: true });
  const { data } = await octokit.repos.getBranchRules({ ...AT, branch: 'main' });
  expect(data).toMatchObject([
    {
      type: 'required_status_checks',
      ruleset_id: id,
      ruleset_source: REPO,
      ruleset_source_type: 'Repository',
      parameters: {
        strict_required_status_checks_policy: true,
        required_status_checks: [{ context: 'build', integration_id: github.app.id }],
      },
    },
  ]);
});

// https://github.com/chdsbd/kodiak/issues/690
it.each<[string, (world: World) => unknown, string]>([
  [
    'protection',
    ({ github }) => github.protectBranch(REPO, 'main', { conversations: true }),
    '405 A conversation must be resolved before this pull request can be merged.',
  ],
  [
    'a ruleset',
    ({ github }) => github.addRuleset(REPO, { conversations: true }),
    '405 Repository rule violations found\n\nA conversation must be resolved before this pull request can be merged.\n\n',
  ],
])(
  '%s that requires resolved conversations refuses the merge until all of them are',
  async (_, require, refusal) => {
    const world = await startChecked();
    const { github } = world;
    require(world);
    const id = await github.beginConversation(REPO, 1, 'walt', 'x');
    expect(await answerTo(world)).toBe(refusal);
    await github.resolveConversation(REPO, 1, id, 'eve');
    expect(await answerTo(world)).toBe('merged');
  },
);

// https://docs.github.com/en/graphql/reference/objects#refupdaterule; rulesets have `rules`
it.each<[string, (world: World) => unknown, object]>([
  ['nothing', () => undefined, { refUpdateRule: null, rules: { nodes: [] } }],
  [
    'protection',
    ({ github }) => github.protectBranch(REPO, 'main', { conversations: true, approvals: 2 }),
    {
      refUpdateRule: { requiredApprovingReviewCount: 2, requiresConversationResolution: true },
      rules: { nodes: [] },
    },
  ],
  [
    'a ruleset',
    ({ github }) => github.addRuleset(REPO, { conversations: true, approvals: 1 }),
    {
      refUpdateRule: null,
      rules: {
        nodes: [
          {
            type: 'PULL_REQUEST',
            parameters: { requiredApprovingReviewCount: 1, requiredReviewThreadResolution: true },
          },
        ],
      },
    },
  ],
])('GraphQL shows what %s requires of reviews and conversations', async (_, require, shown) => {
  const world = await startChecked();
  require(world);
  const query = `{ repository(owner: "acme", name: "shop") { defaultBranchRef {
    refUpdateRule { requiredApprovingReviewCount requiresConversationResolution }
    rules(first: 100) { nodes { type parameters { ... on PullRequestParameters {
      requiredApprovingReviewCount requiredReviewThreadResolution
    } } } }
  } } }`;
  const { data } = await world.octokit.request('POST /graphql', { query });
  expect(data.data.repository.defaultBranchRef).toEqual(shown);
});

it('GraphQL says whether required reviews are missing, and which conversations are resolved', async () => {
  const world = await startChecked();
  const { github, octokit } = world;
  const decision = async () => {
    const query =
      '{ repository(owner: "acme", name: "shop") { pullRequest(number: 1) { reviewDecision reviewThreads(first: 100) { nodes { isResolved } } } } }';
    const { data } = await octokit.request('POST /graphql', { query });
    const { reviewDecision, reviewThreads } = data.data.repository.pullRequest;
    return [reviewDecision, reviewThreads.nodes.map((one: { isResolved: boolean }) => one.isResolved)];
  };
  const id = await github.beginConversation(REPO, 1, 'walt', 'x');
  expect(await decision()).toEqual([null, [false]]);
  github.protectBranch(REPO, 'main', { approvals: 1 });
  await github.resolveConversation(REPO, 1, id, 'eve');
  expect(await decision()).toEqual(['REVIEW_REQUIRED', [true]]);
  await github.review(REPO, 1, 'maya', 'CHANGES_REQUESTED');
  expect(await decision()).toEqual(['CHANGES_REQUESTED', [true]]);
  await github.review(REPO, 1, 'maya', 'APPROVED');
  expect(await decision()).toEqual(['APPROVED', [true]]);
});
