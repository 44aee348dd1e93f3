import { expect, test } from 'vitest';
import type { CognitiveState } from '../../src/domain/expression/state-schema.ts';
import { memoryOf } from '../../src/domain/run/context.ts';
import { REPO } from '../support/harness.ts';
import { A_RECHECK, approvalOf, approvals, open, react, reportCi, start } from './support.ts';
import { chainComments, flowChain } from './support-chains.ts';
import { scenes } from './support-scene.ts';

const scene = scenes();

/** Asks the maintainers only if no known risk is in the memory, whichever step found it. */
const WITHOUT_RISKS = `name: pr-review
trigger: { event: pr.opened, filter: { draft: false } }
steps:
  - id: ci
    skill: ci
  - id: merge
    action: gh-merge
    condition: "{{ state.working.risks | length == 0 and state.working.evidence[0].supports }}"
    requires_approval: true
    with: { pr: "{{ trigger.pr_number }}" }
`;

async function memoryNow({ app }: Awaited<ReturnType<typeof start>>): Promise<CognitiveState> {
  const [run] = await app.storage.read.runs.list({ limit: 1 });
  const state = run && (await app.storage.read.runs.load(run.id));
  if (!state) throw new Error('nothing has run');
  return memoryOf(state);
}

test('nobody is asked while an earlier step has written a risk', { tags: 'slow' }, async () => {
  const harness = await start({ chain: WITHOUT_RISKS });
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'failure');
  await harness.advance(A_RECHECK);
  const { gaps, working } = await memoryNow(harness);
  expect(working.risks).toMatchObject([{ step: 'ci', severity: 'medium' }]);
  expect(gaps).toEqual(['entities', 'options', 'criteria', 'hypotheses', 'decisions', 'messages']);
  expect(approvals(harness, number)).toEqual([]);
});

test('a risk that CI shows only after the maintainers were asked blocks the merge of a countersigned head', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: WITHOUT_RISKS });
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'success');
  await harness.advance(A_RECHECK);
  expect(approvals(harness, number)).toHaveLength(1);
  await harness.github.setStatus(REPO, headSha, { context: 'test', state: 'failure' });
  await react(harness, number, 'mia');
  await harness.advance(A_RECHECK);
  expect(harness.github.merges).toEqual([]);
  expect(approvalOf(harness, number).body).toContain("the step's condition no longer holds");
  await harness.github.setStatus(REPO, headSha, { context: 'test', state: 'success' });
  await harness.advance(A_RECHECK);
  expect(harness.github.merges).toHaveLength(1);
});

test('what a step wrote is replaced when it runs again, as CI does after it was red', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: WITHOUT_RISKS });
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'failure');
  await harness.advance(A_RECHECK);
  const first = await memoryNow(harness);
  await reportCi(harness, headSha, 'success');
  await harness.advance(A_RECHECK);
  const second = await memoryNow(harness);
  expect(second.working.risks).toEqual([]);
  expect(second.trace).toMatchObject([{ step: 'ci' }]);
  expect(second.trace[0]?.from).not.toBe(first.trace[0]?.from);
  expect(approvals(harness, number)).toHaveLength(1);
});

test('the frame stays as at the beginning of the run, and the memory survives a restart', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: WITHOUT_RISKS });
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'success');
  const before = await memoryNow(harness);
  expect(before.frame.goal).toContain('"Greet people by name"');
  await harness.github.editPullRequest(REPO, number, 'ada', { title: 'Nothing to see here' });
  await harness.advance(A_RECHECK);
  await harness.restart();
  await harness.advance(A_RECHECK);
  expect(await memoryNow(harness)).toEqual(before);
});

test('hostile text in the memory stays text in a template, and secrets are not in it', async () => {
  const secret = `ghp_${'aB3dE5fG7hJ9kL1mN2pQ'.repeat(2).slice(0, 36)}`;
  const harness = await scene(
    flowChain(`
      id: ci, skill: ci, output_mapping: { messages: "['read ' ~ outcome.head_sha, outcome.summary]" }
      id: say, action: gh-comment, with: { pr: "{{ trigger.pr_number }}", body: "For {{ state.frame.goal }}: {{ state.working.messages[1].text }}, {{ state.working.options }}." }
    `),
  );
  const { number, headSha } = await harness.open({ title: `@octo/owners <b>look</b> ${secret}` });
  await harness.github.reportCheck(REPO, headSha, {
    name: '@octo/owners',
    status: 'completed',
    conclusion: 'failure',
  });
  await harness.advance(A_RECHECK);
  const [comment = ''] = chainComments(harness, number);
  expect(comment).toMatch(
    /^For chain flow: pull request #.+ into main: 1 of 1 check failed: .+, \\\[\\\]\.$/,
  );
  expect(comment).not.toMatch(/@octo|<b>|aB3dE5/);
  const [run] = await harness.runs('flow');
  const state = await harness.app.storage.read.runs.load(run?.id ?? '');
  expect(JSON.stringify(state && memoryOf(state))).not.toContain('aB3dE5');
});
