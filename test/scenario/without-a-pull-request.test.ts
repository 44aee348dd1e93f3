import { expect, test } from 'vitest';
import { post, said, signedIn, WITH_SIGN_IN } from '../support/browser.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { REPO } from '../support/harness.ts';
import { flowChain } from './support-chains.ts';
import { CHAINS, only, type Scene, scenes, section, UPDATES_SHOWN_MS } from './support-scene.ts';

/** Runs about the newest commit of a branch: fired by another system, and again by the buttons of their check run. */
const start = scenes();

const HEALTH = `
name: health
trigger: { event: manual.fired }
inputs:
  scope: { required: true, choices: [full, quick] }
  count: { type: number, default: 1 }
steps:
  - skill: ci
    condition: "{{ inputs.scope == 'full' }}"
`;

/** The newest commit of the default branch, after somebody pushed to it. */
async function mainOf(scene: Scene): Promise<string> {
  const files = { 'a.txt': 'a\n' };
  return scene.github.push({ repo: REPO, branch: 'main', author: 'mia', files });
}

/** What GitHub sends for a request to `/dispatches`. */
async function dispatch(scene: Scene, type: string, payload: object, login = 'will', guid?: string) {
  const last = scene.github.deliveries.findLast(({ event }) => event === 'push');
  const { installation, repository } = (last?.payload ?? {}) as Record<string, object>;
  const sent = {
    action: type,
    branch: 'main',
    client_payload: payload,
    repository,
    installation,
    sender: { login, type: 'User' },
  };
  const signed = scene.github.signedDelivery('repository_dispatch', sent, guid);
  await fetch(`${scene.app.url}/api/github/webhooks`, { method: 'POST', ...signed });
  await scene.advance(UPDATES_SHOWN_MS);
}

/** Firings that did not happen. */
async function refused(scene: Scene) {
  const rows = await scene.app.storage.read.firings.list({ limit: 50 });
  return rows.map(({ chain, trigger, reason, summary }) => [chain, trigger, reason, summary]);
}

test('a dispatch fires a chain for the newest commit of the default branch, with its inputs', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ health: HEALTH }));
  const sha = await mainOf(scene);
  await dispatch(scene, 'countersign.health', { scope: 'full', count: 3 });
  expect(await scene.runs('health')).toMatchObject([
    {
      pullRequest: null,
      headSha: sha,
      baseRef: 'main',
      facts: {
        trigger: { kind: 'manual', event: 'manual.fired', actor: 'will', head_sha: sha, branch: 'main' },
        inputs: { scope: 'full', count: 3 },
      },
    },
  ]);
  expect(section(scene.check(sha, 'health')?.summary, 'Inputs')).toContain(
    '- `scope`: `full`\n- `count`: `3`',
  );
});

eachFirstQuick<[string, string, object, string]>([
  [
    'a wrong input',
    'health',
    { scope: 'all', colour: ['red'] },
    'the chain "health" cannot run with these inputs: there is no input "colour"; "scope" is one of full, quick, and not "all"; its inputs are scope (one of full, quick; required), count (a number; 1 if left out)',
  ],
  [
    'an unknown chain',
    'helth',
    {},
    'there is no chain "helth": did you mean "health"? Allowed: flow, health',
  ],
  [
    'a chain that does not expect it',
    'flow',
    {},
    'the chain "flow" has no trigger manual.fired, so it cannot be dispatched',
  ],
])('a dispatch with %s starts nothing, and its row says why', async (_, chain, payload, because) => {
  const flow = 'name: flow\ntrigger: { event: pr.opened }\nsteps: [{ skill: ci }]\n';
  const scene = await start(only({ health: HEALTH, flow }));
  await mainOf(scene);
  await dispatch(scene, `countersign.${chain}`, payload);
  expect(await scene.app.storage.read.runs.list({ limit: 5 })).toEqual([]);
  expect(await refused(scene)).toEqual([[chain, 'repository_dispatch', 'refused', because]]);
});

test('a dispatch of a chain that needs a pull request starts nothing', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain('action: gh-comment, with: { body: x }', '[{ event: manual.fired }, { event: pr.merged }]'),
  );
  await mainOf(scene);
  await dispatch(scene, 'countersign.flow', {});
  expect(await scene.runs('flow')).toEqual([]);
  expect(await refused(scene)).toMatchObject([
    [
      'flow',
      'repository_dispatch',
      'refused',
      'the chain "flow" is fired for a branch, and the step "gh-comment" cannot run: gh-comment needs a pull request or an issue',
    ],
  ]);
});

test('a dispatch that GitHub delivers twice fires once', { tags: 'slow' }, async () => {
  const scene = await start(only({ health: HEALTH }));
  await mainOf(scene);
  for (const _ of [1, 2]) await dispatch(scene, 'countersign.health', { scope: 'full' }, 'will', 'the-same');
  expect(await scene.runs('health')).toHaveLength(1);
});

test('“Re-run” of a check fires the chain again for the same commit, with the same inputs', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ health: HEALTH }));
  const sha = await mainOf(scene);
  await dispatch(scene, 'countersign.health', { scope: 'quick', count: 7 });
  await mainOf(scene);
  const check = scene.check(sha, 'health');
  expect(check).toMatchObject({ status: 'completed', actions: [{ identifier: 'rerun' }] });
  await scene.github.rerequestCheck(REPO, check?.id ?? 0, 'otto');
  await scene.settle();
  expect(await scene.runs('health')).toHaveLength(1);
  await scene.github.rerequestCheck(REPO, check?.id ?? 0, 'will');
  await scene.settle();
  const [again, first] = await scene.runs('health');
  expect(again).toMatchObject({ headSha: sha, facts: { ...first?.facts } });
  expect(again?.facts.inputs).toEqual({ scope: 'quick', count: 7 });
});

test('“Re-run all checks” fires the chain of a schedule again, and the run keeps its trigger', {
  tags: 'slow',
}, async () => {
  const scene = await start(flowChain('skill: ci', '{ schedule: every 1h }'));
  const sha = await mainOf(scene);
  await scene.advance(1.2 * 3_600_000);
  const [scheduled] = await scene.runs('flow');
  await scene.github.rerequestAllChecks(REPO, scene.check(sha, 'flow')?.id ?? 0, 'will');
  await scene.settle();
  const [again, ...others] = await scene.runs('flow');
  expect(others).toHaveLength(1);
  expect(again).toMatchObject({ headSha: sha, event: scheduled?.event, facts: scheduled?.facts });
});

test('a re-run of a chain that needs other inputs now starts nothing, and its row says why', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ health: HEALTH }));
  const sha = await mainOf(scene);
  await dispatch(scene, 'countersign.health', { scope: 'quick' });
  const files = {
    [`${CHAINS}/health.yaml`]: HEALTH.replace('scope: {', 'region: { required: true }\n  scope: {'),
  };
  await scene.github.push({ repo: REPO, branch: 'main', author: 'mia', files });
  await scene.github.rerequestCheck(REPO, scene.check(sha, 'health')?.id ?? 0, 'mia');
  await scene.settle();
  expect(await scene.runs('health')).toHaveLength(1);
  expect(await refused(scene)).toEqual([
    ['health', 're-run', 'refused', expect.stringContaining('"region" is missing')],
  ]);
});

test('the button of a run without a pull request cancels it', async () => {
  const scene = await start(only({ health: HEALTH }));
  const sha = await mainOf(scene);
  await scene.github.setStatus(REPO, sha, { context: 'test', state: 'pending' });
  await dispatch(scene, 'countersign.health', { scope: 'full' });
  await scene.github.clickAction(REPO, scene.check(sha, 'health')?.id ?? 0, 'will', 'cancel');
  await scene.settle();
  expect(await scene.runs('health')).toMatchObject([
    { status: 'cancelled', reason: { summary: 'cancelled by will' } },
  ]);
});

test('a button in Studio does what that of the check run does, and says what became of it', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ health: HEALTH }), { studio: WITH_SIGN_IN });
  await mainOf(scene);
  await dispatch(scene, 'countersign.health', { scope: 'quick' });
  const [{ id = '' } = {}] = await scene.runs('health');
  const will = await signedIn(scene, 'will');
  const asked = async (verb: string) => {
    const answer = await post(will, '/commands', { run: id, verb });
    await scene.settle();
    return said(will, answer);
  };
  expect(await asked('cancel')).toBe('The run had ended already.');
  expect(await asked('rerun')).toBe('A new run of the chain begins.');
  expect(await scene.runs('health')).toHaveLength(2);
  const audit = await scene.app.storage.read.audit.page({ after: 0, limit: 50 });
  expect(
    audit.filter(({ kind }) => kind === 'command.carried_out').map(({ entry }) => [entry.verb, entry.via]),
  ).toEqual([['rerun', { kind: 'studio' }]]);
});
