// @module-tag slow
import { expect, test } from 'vitest';
import type { StepHandler } from '../../src/engine/steps/step.ts';
import { runShow } from '../../src/messages/cli/terminal.ts';
import type { Harness } from '../support/harness.ts';
import { rowsOf } from '../support/rows-of.ts';
import {
  A_RECHECK,
  approvalOf,
  approvals,
  checkLines,
  countersign,
  open,
  ownCheck,
  pushAgain,
  reportCi,
  start,
} from './support.ts';

/** CI leaves no file behind, so every file that a contract asks of it is missing. */
const chainAsking = (artifacts: string, more = '') => `name: pr-review
trigger: { event: pr.opened, filter: { draft: false } }
steps:
  - id: ci
    skill: ci
    artifacts: { expected: [${artifacts}] }
${more}  - id: merge
    action: gh-merge
    condition: "{{ steps.ci.outcome.passed }}"
    requires_approval: true
    with: { pr: "{{ trigger.pr_number }}" }
`;
const REPORT = '{ id: report, path: report.json }';

/** How each session of the newest run of a head ended, and what it left behind. */
async function sessions({ app }: Harness, headSha: string): Promise<string[]> {
  const [run] = await app.storage.read.runs.list({ headSha });
  const all = await app.storage.read.runs.sessionsOf(run?.id ?? '');
  return all
    .filter(({ contract }) => contract !== null)
    .map(({ status, reason, verification }) => {
      const missing = verification?.missing_required.map(({ id }) => id).join(', ');
      return `${status} (${reason?.code ?? 'no reason'}): ${verification?.status ?? 'not verified'}, missing ${missing || 'nothing'}`;
    });
}

test('a step whose skill throws keeps that cause, and its files are verified too', async () => {
  const broken: StepHandler = {
    name: 'broken',
    capability: { name: 'broken', minimumTrust: 'sandbox', sideEffects: false, confirmation: 'none' },
    run: () => Promise.reject(new Error('it fell over')),
  };
  const harness = await start({
    chain: chainAsking(REPORT).replace('skill: ci', 'skill: broken'),
    skills: [broken],
  });
  const { headSha } = await open(harness);
  await harness.advance(3_600_000);
  expect(await sessions(harness, headSha)).toContain('failed (step.failed.error): failed, missing report');
});

test('a step that ends well without a required artifact fails its run with its name, and nobody is asked', async () => {
  const harness = await start({ chain: chainAsking(REPORT) });
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'success');
  await harness.advance(A_RECHECK);

  const [run] = await harness.app.storage.read.runs.list({ headSha });
  expect(run).toMatchObject({ status: 'failed', reason: { code: 'run.failed.missing_artifact' } });
  expect(run?.reason?.evidence).toContainEqual({ kind: 'artifact', id: 'report', label: 'report.json' });
  expect(approvals(harness, number)).toEqual([]);
  expect(checkLines(harness, headSha)).toEqual([
    'failure: Step ci failed: it ended without what its contract requires: report (report.json): it is not there',
  ]);
  expect(await sessions(harness, headSha)).toEqual([
    'failed (step.failed.missing_artifact): failed, missing report',
  ]);
});

test('the check run and run show list what was expected beside what was produced', async () => {
  const harness = await start({ chain: chainAsking(REPORT) });
  const { headSha } = await open(harness);
  await reportCi(harness, headSha, 'success');
  await harness.advance(A_RECHECK);

  const { summary = '' } = ownCheck(harness, headSha);
  expect(summary?.slice(summary.indexOf('### Expected artifacts'))).toMatchInlineSnapshot(`
    "### Expected artifacts: partial

    Some of it is missing.

    | | Step | Expected | Produced |
    |---|---|---|---|
    | ✅ | \`ci\` | \`outcome ci_result\` | recorded |
    | ❌ | \`ci\` | \`report.json\` | missing: it is not there |"
  `);
  const [run] = await harness.app.storage.read.runs.list({ headSha });
  const state = await harness.app.storage.read.runs.load(run?.id ?? '');
  if (!state) throw new Error('the run is gone');
  const shown = runShow(state, null, harness.clock.now());
  expect(shown.slice(shown.indexOf('Expected artifacts'))).toMatchInlineSnapshot(`
    "Expected artifacts: partial
    STEP  EXPECTED           NEED      PRODUCED                  ARTIFACT
    ci    outcome ci_result  required  recorded
    ci    report.json        required  missing: it is not there

    ✘ not merged: ci failed: it ended without what its contract requires: report (report.json): it is not there
      ✘ ci failed: it ended without what its contract requires: report (report.json): it is not there (report.json)
      ✘ merge was skipped: ci failed before it
      ✘ delivery: partial"
  `);
});

test('a missing optional artifact only warns, also in the approval comment', async () => {
  const harness = await start({ chain: chainAsking('{ id: report, path: report.json, required: false }') });
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'success');
  await harness.advance(A_RECHECK);
  expect(approvalOf(harness, number).body).toContain(
    '**Artifacts:** 1 of 2 expected artifacts is there; missing: report.json',
  );
  await countersign(harness, number);
  expect(harness.github.merges).toHaveLength(1);
  expect(await sessions(harness, headSha)).toEqual(['completed (step.completed): warning, missing nothing']);
});

test('a chain’s entry replaces the skill’s', async () => {
  const harness = await start({
    chain: chainAsking('{ id: ci-result, path: ci.json, required: false }'),
  });
  const { headSha } = await open(harness);
  await reportCi(harness, headSha, 'success');
  await harness.advance(A_RECHECK);
  const { summary } = ownCheck(harness, headSha);
  expect(summary).toContain('| ⚠️ | `ci` | `ci.json` (optional) |');
  expect(summary).not.toContain('outcome ci_result');
});

test('every attempt of a step is checked against the contract separately', async () => {
  const harness = await start({ chain: chainAsking(REPORT, '    retry: { attempts: 2, backoff: 1s }\n') });
  const { headSha } = await open(harness);
  await reportCi(harness, headSha, 'success');
  await harness.advance(60_000);
  const missed = 'failed (step.failed.missing_artifact): failed, missing report';
  expect(await sessions(harness, headSha)).toEqual([missed, missed]);
});

test('a step that times out keeps that cause, beside the verification', async () => {
  const harness = await start({ chain: chainAsking(REPORT, '    timeout: 1m\n') });
  const { headSha } = await open(harness);
  await reportCi(harness, headSha, 'pending');
  await harness.advance(70_000);
  const [run] = await harness.app.storage.read.runs.list({ headSha });
  expect(run).toMatchObject({ status: 'timed_out', reason: { code: 'run.timed_out.step' } });
  expect(await sessions(harness, headSha)).toEqual([
    'timed_out (step.timed_out): failed, missing report, ci-result'.replace(
      'report, ci-result',
      'ci-result, report',
    ),
  ]);
});

test('a step that a newer push cancels is verified too', async () => {
  const harness = await start({ chain: chainAsking(REPORT) });
  const { headSha } = await open(harness);
  await reportCi(harness, headSha, 'pending');
  await pushAgain(harness);
  const [run] = await harness.app.storage.read.runs.list({ headSha });
  expect(run).toMatchObject({ status: 'cancelled', reason: { code: 'run.cancelled.superseded' } });
  expect(await sessions(harness, headSha)).toEqual([
    'cancelled (step.cancelled): failed, missing ci-result, report',
  ]);
});

test('a step that fails for its own reason keeps that reason', async () => {
  const harness = await start({ chain: chainAsking(REPORT), settings: 'ci: { wait: 1m }\n' });
  const { headSha } = await open(harness);
  await reportCi(harness, headSha, 'pending');
  await harness.advance(10 * 60_000);
  const [run] = await harness.app.storage.read.runs.list({ headSha });
  expect(run?.reason?.code).toBe('run.failed.step');
  expect(await sessions(harness, headSha)).toEqual([
    'failed (step.failed.ci_wait): failed, missing ci-result, report',
  ]);
});

test('a chain without a contract shows nothing about it', async () => {
  const chain = chainAsking('')
    .replace(/ {2}- id: ci[\s\S]*?(?= {2}- id: merge)/, '')
    .replace(/ {4}condition.*\n/, '');
  const harness = await start({ chain });
  const { number, headSha } = await open(harness);
  await harness.advance(A_RECHECK);
  expect(ownCheck(harness, headSha).summary).not.toContain('Expected artifacts');
  expect(approvalOf(harness, number).body).not.toContain('Artifacts');
});

test('why a step failed names its missing artifacts beside its own cause', async () => {
  const harness = await start({ chain: chainAsking(REPORT), settings: 'ci: { wait: 1m }\n' });
  const { headSha } = await open(harness);
  await reportCi(harness, headSha, 'pending');
  await harness.advance(10 * 60_000);
  const { summary } = ownCheck(harness, headSha);
  expect(summary).toContain('gave up waiting for CI');
  expect(summary).toContain('expected artifact report: it is not there');
});

test('an invalid contract in the database keeps its session from starting', async () => {
  const harness = await start({ chain: chainAsking(REPORT) });
  const { headSha } = await open(harness);
  await reportCi(harness, headSha, 'pending');
  await rowsOf(
    harness.config.databaseUrl,
    `UPDATE sessions SET artifact_contract_json = replace(artifact_contract_json, 'report.json', '../x')`,
  );
  await reportCi(harness, headSha, 'success');
  await harness.advance(A_RECHECK);
  expect(checkLines(harness, headSha)).toEqual([
    expect.stringContaining('the artifact contract of this session is not sound'),
  ]);
});
