import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { explain, explainText } from '../../src/domain/run/explain.ts';
import type { Invocation, RunState } from '../../src/domain/run/run.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { REPO } from '../support/harness.ts';
import { A_RECHECK, countersign } from './support.ts';
import { chainComments, flowChain } from './support-chains.ts';
import { type Scene, scenes, section, UPDATES_SHOWN_MS } from './support-scene.ts';

const start = scenes();

async function stateOf(scene: Scene): Promise<RunState> {
  const [run] = await scene.runs('flow');
  const state = await scene.app.storage.read.runs.load(run?.id ?? '');
  if (!state) throw new Error('the chain did not run');
  return state;
}

async function step(scene: Scene, id: string): Promise<Invocation | undefined> {
  return (await stateOf(scene)).invocations.find(({ stepId }) => stepId === id);
}

async function sessions(scene: Scene): Promise<number> {
  const { run } = await stateOf(scene);
  return (await scene.app.storage.read.runs.sessionsOf(run.id)).length;
}

async function tellCi(scene: Scene, sha: string, name: string): Promise<void> {
  await scene.github.reportCheck(REPO, sha, { name, status: 'completed', conclusion: 'success' });
  await scene.advance(UPDATES_SHOWN_MS);
}

const questions = ({ github }: Scene, number: number) =>
  github.comments(REPO, number).filter(({ body }) => body.includes('countersign:question'));

const NUMBER = '{ rule_id: number, field: pr, check: type, type: int }';
const FEW = '{ rule_id: few, field: labels.length, check: range, max: 1 }';
const FORM = '{ rule_id: form, field: labels.0, check: pattern, pattern: "[a-z]+" }';

test('inputs that satisfy every rule let the step run', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain(
      `action: gh-label, with: { pr: "{{ trigger.pr_number }}", labels: [seen] }, validate: [${NUMBER}, ${FEW}, ${FORM}]`,
    ),
  );
  const { number } = await scene.open();
  expect(scene.github.labels(REPO, number)).toEqual(['seen']);
});

test('inputs that break rules fail the step before it does anything, and every rule is reported', {
  tags: 'slow',
}, async () => {
  const scene = await start(
    flowChain(
      `id: tag, action: gh-label, with: { pr: "#{{ trigger.pr_number }}", labels: [A, b] }, validate: [${NUMBER}, ${FEW}, ${FORM}]`,
    ),
  );
  const { number, headSha } = await scene.open();
  expect(scene.github.labels(REPO, number)).toEqual([]);
  expect((await step(scene, 'tag'))?.reason).toEqual({
    code: 'step.failed.invalid_input',
    summary:
      'its inputs break 3 rules: number (pr must be of type int, not str), few (labels.length must be at most 1, not 2), form (labels.0 does not match its pattern)',
    evidence: [
      { kind: 'rule', id: 'number', label: 'number: pr must be of type int, not str' },
      { kind: 'rule', id: 'few', label: 'few: labels.length must be at most 1, not 2' },
      { kind: 'rule', id: 'form', label: 'form: labels.0 does not match its pattern' },
    ],
  });
  expect(scene.check(headSha, 'flow')?.conclusion).toBe('failure');
  expect(section(scene.check(headSha, 'flow')?.summary, 'Steps')).toContain('its inputs break 3 rules');
  expect(explainText(explain(await stateOf(scene), null))).toContain(
    'few: labels.length must be at most 1, not 2',
  );
});

test('the sentence names three rules, and the evidence all of them', { tags: 'slow' }, async () => {
  const rules = [1, 2, 3, 4, 5].map((n) => `{ rule_id: r${n}, field: body, check: type, type: int }`);
  const scene = await start(
    flowChain(`id: say, action: gh-comment, with: { body: Hi }, validate: [${rules.join(', ')}]`),
  );
  await scene.open();
  const reason = (await step(scene, 'say'))?.reason;
  expect(reason?.summary).toMatch(/^its inputs break 5 rules: r1 .*, r2 .*, r3 .* and 2 more$/);
  expect(reason?.evidence.map(({ id }) => id)).toEqual(['r1', 'r2', 'r3', 'r4', 'r5']);
});

test('an input whose expression has no value breaks its rule', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain(
      'id: say, action: gh-comment, with: { body: Hello, for: "{{ trigger.input_nobody }}" }, validate: [{ rule_id: there, field: for, check: pattern, pattern: ".*" }]',
    ),
  );
  const { number } = await scene.open();
  expect(chainComments(scene, number)).toEqual([]);
  expect((await step(scene, 'say'))?.reason?.summary).toBe('its inputs break a rule: there (for is missing)');
});

test('a title from a pull request is matched in full, and not quoted', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain(
      'id: say, action: gh-comment, with: { body: Hi, title: "{{ trigger.title }}" }, validate: [{ rule_id: form, field: title, check: pattern, pattern: "(feat|fix): .+" }]',
    ),
  );
  const { number, headSha } = await scene.open({ title: 'ignore this, feat: all is well' });
  expect(chainComments(scene, number)).toEqual([]);
  expect(section(scene.check(headSha, 'flow')?.summary, 'Steps')).toContain(
    'title does not match its pattern',
  );
  expect(scene.check(headSha, 'flow')?.summary).not.toContain('all is well');
});

eachFirstQuick([
  ['merge', 'action: gh-merge, with: { method: squash }'],
  ['label', 'action: gh-label, with: { method: squash, labels: [a] }'],
])('nobody is asked to countersign a %s whose inputs break a rule', async (_, uses) => {
  const scene = await start(
    flowChain(
      `${uses}, requires_approval: true, validate: [{ rule_id: how, field: method, check: pattern, pattern: rebase }]`,
    ),
  );
  const { number } = await scene.open();
  await scene.advance(60_000);
  expect(questions(scene, number)).toEqual([]);
  expect(scene.github.merges).toEqual([]);
  expect((await stateOf(scene)).run.reason?.summary).toContain('method does not match its pattern');
});

test('inputs that break a rule are not retried', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain(
      `action: gh-label, retry: { attempts: 3, backoff: 1s }, with: { pr: "{{ trigger.title }}", labels: [x] }, validate: [${NUMBER}]`,
    ),
  );
  await scene.open();
  await scene.advance(60_000);
  expect(await sessions(scene)).toBe(1);
});

const NOT_HERE =
  'expect: [{ rule_id: low, field: details.issue, check: range, max: 0 }, { rule_id: done, field: passed, check: required }]';

test('an outcome that breaks a rule does not count, and effects that depend on it are not written', {
  tags: 'slow',
}, async () => {
  const scene = await start(
    flowChain(`
      id: say, action: gh-comment, with: { body: Hello }, on_failure: continue, ${NOT_HERE}
      id: then, action: gh-label, with: { labels: [said] }, condition: "{{ steps.say.outcome.passed }}"
      id: else, action: gh-label, depends_on: [say], with: { labels: [unsaid] }, condition: "{{ not steps.say.outcome.passed }}"
    `),
  );
  const { number } = await scene.open();
  expect(chainComments(scene, number)).toEqual([]);
  expect(scene.github.labels(REPO, number)).toEqual([]);
  const say = await step(scene, 'say');
  expect(say).toMatchObject({ status: 'failed', outcome: null });
  expect(say?.reason).toEqual({
    code: 'step.failed.unexpected_outcome',
    summary: `its outcome breaks a rule: low (details.issue must be at most 0, not ${number})`,
    evidence: [{ kind: 'rule', id: 'low', label: `low: details.issue must be at most 0, not ${number}` }],
  });
});

test('a rejected outcome is kept and shown to whoever asks why', async () => {
  const scene = await start(flowChain(`action: gh-comment, with: { body: Hello }, ${NOT_HERE}`));
  const { number } = await scene.open();
  const { run } = await stateOf(scene);
  const artifacts = await scene.app.storage.read.artifacts.ofRun(run.id);
  expect(artifacts.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['log refused-outcome.json']);
  const folder = scene.config.artifactsUrl.replace(/^file:/, '');
  const kept = readFileSync(join(folder, artifacts[0]?.filePath ?? ''), 'utf8');
  expect(JSON.parse(kept)).toMatchObject({ action: 'gh-comment', details: { issue: number } });
});

test('an outcome that satisfies every rule counts', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain(
      'action: gh-comment, with: { body: Hello }, expect: [{ rule_id: done, field: passed, check: type, type: bool }]',
    ),
  );
  const { number } = await scene.open();
  expect(chainComments(scene, number)).toEqual(['Hello']);
});

test('a step whose outcome broke a rule is retried if it has attempts left', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain(`action: gh-comment, retry: { attempts: 3, backoff: 1s }, with: { body: Hello }, ${NOT_HERE}`),
  );
  const { number } = await scene.open();
  await scene.advance(60_000);
  expect(await sessions(scene)).toBe(3);
  expect(chainComments(scene, number)).toEqual([]);
});

test('CI that passed without the number of its tests is not a pass if a rule expects it', {
  tags: 'slow',
}, async () => {
  const scene = await start(
    flowChain(`
      skill: ci, expect: [{ rule_id: tests, field: test_count, check: range, min: 1 }]
      action: gh-merge, requires_approval: true
    `),
  );
  const { number, headSha } = await scene.open();
  await tellCi(scene, headSha, 'test');
  expect((await step(scene, 'ci'))?.reason?.summary).toBe(
    'its outcome breaks a rule: tests (test_count is missing)',
  );
  expect(questions(scene, number)).toEqual([]);
});

test('CI that breaks a rule after the maintainers were asked blocks the merge', {
  tags: 'slow',
}, async () => {
  const scene = await start(
    flowChain(`
      skill: ci, expect: [{ rule_id: one, field: checks.length, check: range, max: 1 }]
      action: gh-merge, requires_approval: true, condition: "{{ steps.ci.outcome.head_sha is defined }}"
    `),
  );
  const { number, headSha } = await scene.open();
  await tellCi(scene, headSha, 'test');
  expect(questions(scene, number)).toHaveLength(1);
  await tellCi(scene, headSha, 'another test');
  await countersign(scene, number);
  await scene.advance(A_RECHECK);
  expect(scene.github.merges).toEqual([]);
  expect(scene.check(headSha, 'flow')?.summary).toContain(
    'its outcome by now breaks a rule: one (checks.length must be at most 1, not 2)',
  );
});
