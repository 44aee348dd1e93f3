// @module-tag security
// @module-tag slow

import { describe, expect, test } from 'vitest';
import { countersignAt } from '../entrypoints/cli/support.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import type { ObservedRequest } from '../support/github/server.ts';
import { type Harness, REPO } from '../support/harness.ts';
import { studioFor, textOf } from '../support/studio.ts';
import {
  A_RECHECK,
  approvals,
  CI_AND_MERGE,
  countersign,
  gates,
  MERGE_ONLY,
  open,
  ownCheck,
  ownChecks,
  pushAgain,
  reportCi,
  type Setting,
  start,
} from './support.ts';

const SETTINGS = '.github/countersign.yml';
const ORGANISATION = 'octo/.github';

/** The app, for an organisation with this rollout. */
async function startWith(rollout: string, setting: Setting = {}): Promise<Harness & { writes: string[] }> {
  const harness = await start({ chain: CI_AND_MERGE, ...setting });
  harness.github.addRepository({
    owner: 'octo',
    name: '.github',
    defaultBranch: 'trunk',
    files: { [SETTINGS]: `rollout: ${rollout}\n` },
  });
  const writes: string[] = [];
  harness.github.onRequest((request) => {
    if (isWrite(request)) writes.push(`${request.method} ${request.path}`);
  });
  return Object.assign(harness, { writes });
}

/** Signing in and asking in GraphQL are POSTs that change nothing. */
function isWrite({ method, path, body }: ObservedRequest): boolean {
  if (method === 'GET' || path.endsWith('/access_tokens')) return false;
  const isQuery = path.endsWith('/graphql') && !/\bmutation\b/.test(JSON.stringify(body));
  return !isQuery && !path.startsWith('/app/hook/deliveries');
}

function rollOut({ github }: Harness, rollout: string): Promise<string> {
  const files = { [SETTINGS]: rollout === '' ? 'noise: normal\n' : `rollout: ${rollout}\n` };
  return github.push({ repo: ORGANISATION, branch: 'trunk', author: 'max', files });
}

function cliOf({ config }: Harness) {
  return countersignAt(config.databaseUrl);
}

async function newestRun({ app }: Harness) {
  const [run] = await app.storage.read.runs.list({ limit: 1 });
  if (!run) throw new Error('no run has begun');
  return run;
}

describe('with rollout observe', () => {
  test('a whole life of a pull request leads to no write, and the run says what it would have done', async () => {
    const harness = await startWith('observe', { chain: REVIEWED });
    const { number, headSha } = await open(harness, { files: { 'src/key.ts': SECRET } });
    await pushAgain(harness, HARMLESS);
    await harness.github.push({ repo: REPO, branch: 'greet', author: 'ada', files: { 'src/key.ts': null } });
    await harness.settle();
    const sha = harness.github.pullRequest(REPO, number).headSha;
    await reportCi(harness, sha, 'success');
    await harness.advance(A_RECHECK);
    const id = await harness.github.comment(REPO, number, 'mia', '/countersign why');
    await harness.settle();
    await harness.github.react(REPO, id, 'mia', 'rocket');
    await harness.advance(A_RECHECK);
    const run = await newestRun(harness);
    await harness.github.closePullRequest(REPO, number, 'ada');
    await harness.advance(A_RECHECK);
    expect(harness.writes).toEqual([]);
    expect(harness.github.merges).toEqual([]);
    expect(headSha).not.toBe(sha);

    const cli = cliOf(harness);
    const shown = await cli('run', 'show', run.id);
    expect(shown.stdout).toContain(
      'Would have asked a maintainer to countersign, and then merged into main (squash)',
    );
    expect(shown.stdout).toContain('Check "countersign / pr-review"');
    expect((await cli('run', 'why', run.id)).stdout).toContain('rollout was observe when the run began');
    const json = JSON.parse((await cli('run', 'show', run.id, '--json')).stdout);
    expect(json).toMatchObject({ rollout: 'observe', reason: { code: 'run.completed.rollout' } });
    expect(json.would_write.map(({ kind }: { kind: string }) => kind)).toContain('check_run');
  });

  test('a command changes what it should, without a reaction or a reply', async () => {
    const harness = await startWith('observe');
    const { number } = await open(harness);
    await harness.github.comment(REPO, number, 'mia', '/countersign cancel');
    await harness.advance(A_RECHECK);
    expect(await newestRun(harness)).toMatchObject({ status: 'cancelled' });
    expect(harness.writes).toEqual([]);
  });

  test('labels, messages, workflows and questions of a chain are only recorded', async () => {
    const harness = await startWith('observe', { chain: ACTIONS });
    await open(harness);
    await harness.advance(60_000);
    expect(harness.writes).toEqual([]);
    const { id } = await newestRun(harness);
    const { stdout } = await cliOf(harness)('run', 'show', id);
    expect(stdout).toContain('Labels on #1: seen');
    expect(stdout).toContain('gh-dispatch would have written: Start of the workflow ci.yml on main');
    expect(stdout).toContain('Comment on #1');
    expect(stdout).toContain('Would have asked a maintainer to approve go, and then gone on');
    expect(stdout).not.toContain('Comment on #1\n  │ after the workflow');
  });

  test('nothing is written after a restart either', async () => {
    const harness = await startWith('observe');
    const { headSha } = await open(harness);
    await harness.restart();
    await reportCi(harness, headSha, 'success');
    await harness.advance(A_RECHECK);
    expect((await newestRun(harness)).reason?.code).toBe('run.completed.rollout');
    expect(harness.writes).toEqual([]);
  });

  test('a merge queue that does not require the gate check gets no answer', async () => {
    const harness = await startWith('observe', { chain: MERGE_ONLY });
    const { github } = harness;
    github.addRuleset(REPO, { checks: ['build'], mergeQueue: {} });
    const { number, headSha } = await open(harness);
    await github.reportCheck(REPO, headSha, { name: 'build', status: 'completed', conclusion: 'success' });
    await github.enqueue(REPO, number, 'will');
    await harness.advance(A_RECHECK);
    expect(github.deliveries.map(({ event }) => event)).toContain('merge_group');
    expect(harness.writes).toEqual([]);
  });

  test('Studio lists what a run would have written', async () => {
    const harness = await startWith('observe', { chain: MERGE_ONLY });
    await open(harness);
    await harness.advance(A_RECHECK);
    const { id } = await newestRun(harness);
    const page = textOf((await (await studioFor(harness))(`/runs/${id}`)).html);
    expect(page).toContain('What it would have written');
    expect(page).toContain('Check "countersign / pr-review"');
    expect(page).toContain('would have asked a maintainer to countersign');
  });
});

describe('with rollout comment', () => {
  test('check runs, comments and replies are written, and nothing else', async () => {
    const harness = await startWith('comment', { chain: ACTIONS });
    const { number, headSha } = await open(harness);
    await harness.github.comment(REPO, number, 'mia', '/countersign status');
    await harness.advance(60_000);
    expect(ownChecks(harness, headSha)).toHaveLength(1);
    expect(gates(harness, headSha)).toEqual([]);
    expect(approvals(harness, number)).toEqual([]);
    expect(harness.github.comments(REPO, number).length).toBeGreaterThan(1);
    const written = harness.writes.filter((write) => !/comments|check-runs|reactions|graphql/.test(write));
    expect(written).toEqual([]);
    expect(harness.github.pullRequest(REPO, number).labels).toEqual([]);
  });

  test('nobody is asked, and the check run says that somebody would have been', async () => {
    const harness = await startWith('comment', { chain: MERGE_ONLY });
    const { number, headSha } = await open(harness);
    await harness.advance(A_RECHECK);
    expect(approvals(harness, number)).toEqual([]);
    expect(ownCheck(harness, headSha)).toMatchObject({
      conclusion: 'neutral',
      title: 'Would have asked a maintainer to countersign, and then merged into main (squash)',
    });
  });
});

describe('with rollout off', () => {
  test('no run begins, nothing is written, and nothing can be fired', async () => {
    const harness = await startWith('off');
    const { number } = await open(harness);
    await harness.github.comment(REPO, number, 'mia', '/countersign fire pr-review');
    await harness.advance(A_RECHECK);
    expect(await harness.app.storage.read.runs.list({})).toEqual([]);
    expect(harness.writes).toEqual([]);
  });

  test('a run that has begun ends with the next event of its pull request', async () => {
    const harness = await startWith('enforce');
    const { number } = await open(harness);
    await rollOut(harness, 'off');
    await harness.settle();
    const before = harness.writes.length;
    await harness.github.addLabel(REPO, number, 'will', 'ready');
    await harness.advance(A_RECHECK);
    expect((await newestRun(harness)).reason).toMatchObject({
      code: 'run.cancelled.rollout',
      summary: 'rollout is off for this repository, in the settings of the organisation',
    });
    expect(harness.writes).toHaveLength(before);
  });
});

describe('a rollout that is lowered', () => {
  eachFirstQuick([['observe'], ['comment']])(
    'to %s while a question is open prevents its merge until it is raised again',
    async (level) => {
      const harness = await startWith('enforce', { chain: MERGE_ONLY });
      const { number } = await open(harness);
      await harness.advance(A_RECHECK);
      // No event reports the push: the answer itself must find it.
      harness.github.holdDeliveries();
      await rollOut(harness, level);
      const before = harness.writes.length;
      await countersign(harness, number);
      await harness.advance(60_000);
      expect(harness.github.merges).toEqual([]);
      if (level !== 'comment') expect(harness.writes).toHaveLength(before);
      await rollOut(harness, 'enforce');
      await harness.advance(60_000);
      expect(harness.github.merges).toHaveLength(1);
    },
  );

  test('to off ends the question, and the next event after it is raised asks again', async () => {
    const harness = await startWith('enforce', { chain: MERGE_ONLY });
    const { number } = await open(harness);
    await harness.advance(A_RECHECK);
    await rollOut(harness, 'off');
    const before = harness.writes.length;
    await countersign(harness, number);
    expect(harness.github.merges).toEqual([]);
    expect(harness.writes).toHaveLength(before);
    expect((await newestRun(harness)).reason?.code).toBe('run.cancelled.rollout');
    await rollOut(harness, 'enforce');
    await harness.github.addLabel(REPO, number, 'will', 'ready');
    await harness.advance(A_RECHECK);
    expect(approvals(harness, number)).toHaveLength(2);
  });

  test('closes a gate that the app had opened', async () => {
    const settings = 'merge: { by: people }\n';
    const harness = await startWith('enforce', { chain: MERGE_ONLY, settings });
    const { number, headSha } = await open(harness);
    await countersign(harness, number);
    expect(gates(harness, headSha).at(-1)).toContain('success');
    await rollOut(harness, 'observe');
    await harness.advance(180_000);
    expect(gates(harness, headSha).at(-1)).not.toContain('success');
  });
});

test('a rollout that is raised begins a new run with the next event of the pull request', async () => {
  const harness = await startWith('observe', { chain: MERGE_ONLY });
  const { number } = await open(harness);
  await harness.advance(A_RECHECK);
  await rollOut(harness, '');
  await harness.advance(A_RECHECK);
  expect(harness.writes).toEqual([]);
  await harness.github.addLabel(REPO, number, 'will', 'ready');
  await harness.advance(A_RECHECK);
  expect(approvals(harness, number)).toHaveLength(1);
  await countersign(harness, number);
  expect(harness.github.merges).toHaveLength(1);
});

test('the first entry of the list that matches a repository decides', async () => {
  const list = '[{ repositories: [shop-*, APP], level: observe }, { repositories: "*", level: enforce }]';
  const harness = await startWith(list, { chain: MERGE_ONLY });
  await open(harness);
  await harness.advance(A_RECHECK);
  expect((await newestRun(harness)).facts.rollout).toBe('observe');
});

describe('a rollout that cannot be read', () => {
  test('lets nothing be written or merged', async () => {
    const harness = await startWith('observ', { chain: MERGE_ONLY });
    await open(harness);
    await harness.advance(A_RECHECK);
    expect(harness.writes).toEqual([]);
    expect(await harness.app.storage.read.runs.list({})).toEqual([]);
  });

  test('lets nothing be written or merged when GitHub does not show the settings any more', async () => {
    const harness = await startWith('[{ repositories: "*", level: enforce }]', { chain: MERGE_ONLY });
    const { number } = await open(harness);
    await harness.advance(A_RECHECK);
    harness.github.fail(({ path }) => path.startsWith(`/repos/${ORGANISATION}`), { status: 404 });
    const before = harness.writes.length;
    await countersign(harness, number);
    await open(harness, { branch: 'second', files: { 'src/two.ts': 'export {};\n' } });
    await harness.advance(60_000);
    expect(harness.github.merges).toEqual([]);
    expect(harness.writes).toHaveLength(before);
  });
});

describe('only the organisation and the server set the rollout', () => {
  test('a repository’s own settings with it have an error, and are not used', async () => {
    const settings = 'rollout: enforce\n';
    const harness = await startWith('comment', { chain: MERGE_ONLY, settings });
    const { headSha } = await open(harness);
    await harness.advance(A_RECHECK);
    expect(ownCheck(harness, headSha).summary).toContain('only the settings of the organisation');
  });

  test('a head with another rollout changes nothing', async () => {
    const harness = await startWith('observe', { chain: MERGE_ONLY });
    await open(harness, { files: { [SETTINGS]: 'rollout: enforce\n' } });
    await harness.advance(A_RECHECK);
    expect(harness.writes).toEqual([]);
  });

  test('the lower of both counts', async () => {
    const harness = await startWith('comment', { chain: MERGE_ONLY });
    await harness.down();
    Object.assign(harness.config, { rollout: 'observe' });
    await harness.up();
    await open(harness);
    await harness.advance(A_RECHECK);
    expect(harness.writes).toEqual([]);
    expect((await newestRun(harness)).facts.rollout).toBe('observe');
  });
});

/** Writes of several kinds, one that waits for GitHub, and a question that merges nothing. */
const ACTIONS = `name: pr-review
trigger: { event: pr.opened }
steps:
  - id: hello
    action: gh-comment
    with: { pr: "{{ trigger.pr_number }}", body: "Hello." }
  - id: label
    action: gh-label
    with: { pr: "{{ trigger.pr_number }}", labels: [seen] }
  - id: go
    action: gh-comment
    depends_on: [hello]
    requires_approval: true
    with: { pr: "{{ trigger.pr_number }}", body: "after the question" }
  - id: start
    action: gh-dispatch
    depends_on: [hello]
    with: { workflow: ci.yml }
  - id: after
    action: gh-comment
    depends_on: [start]
    with: { pr: "{{ trigger.pr_number }}", body: "after the workflow" }
`;

/** With a review, as the shipped chain has it. */
const REVIEWED = CI_AND_MERGE.replace('steps:\n', 'steps:\n  - id: review\n    skill: pr-review\n');
const SECRET = `export const key = 'ghp_${'0123456789abcdefghijklmnopqrstuvwxyz01'}';\n`;
const HARMLESS = 'export const one = 1;\n';
