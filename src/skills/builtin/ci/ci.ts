import { z } from 'zod';
import { unfitPathReason } from '../../../domain/artifact/place.ts';
import { reason } from '../../../domain/explanation/reason.ts';
import type { CiResult } from '../../../domain/outcome/ci-result.ts';
import { makeOutcome } from '../../../domain/outcome/outcome.ts';
import { CAPABILITIES } from '../../../domain/policy/capability.ts';
import type { StepContext, StepHandler, StepResult } from '../../../engine/steps/step.ts';
import { INPUT } from '../../../messages/skills/skill-inputs.ts';
import type { CheckRunFacts, CheckSuiteFacts, RequiredCheck } from '../../../ports/github.ts';
import { readInputs, writtenInputs } from '../../runtime/inputs.ts';
import { ciArtifacts } from './artifacts.ts';
import { readCommands } from './commands.ts';
import { type CiFacts, type CiJudgement, judgeCi } from './judge.ts';

/**
 * How long a commit may be without checks before it counts as having none, in milliseconds. CI systems report
 * their first check with a delay, so "none yet" must not count as "none".
 */
const FIRST_CHECK_GRACE_MS = 30_000;

/** How often pending checks are read without an event from GitHub, in milliseconds. */
const SLOW_POLL_MS = 120_000;

/**
 * Rejected: `required` as an alternative to `full`. Without required checks, there would be nothing to wait
 * for, and a failing check would not stop the merge.
 */
const inputsSchema = z.object({
  scope: z.literal('full', { error: INPUT.scope }).default('full'),
  artifacts: z
    .array(
      z
        .string({ error: INPUT.artifacts })
        .max(100, { error: INPUT.artifacts })
        .refine((name) => unfitPathReason(name) === undefined && !name.includes('/'), {
          error: INPUT.artifacts,
        }),
      { error: INPUT.artifacts },
    )
    .max(5, { error: INPUT.artifacts })
    .default([]),
});

/** Waits for the checks that other apps and services report on the head, and summarises them. */
export const ci: StepHandler = {
  name: 'ci',
  inputs: writtenInputs(inputsSchema),
  capability: CAPABILITIES.ci,
  artifactDefaults: [
    { kind: 'outcome', id: 'ci-result', outcome: 'ci_result', required: true, source: 'skill' },
  ],
  cognitiveHints: { produces: ['evidence', 'risks', 'uncertainties'] },
  async run(context) {
    const inputs = readInputs(inputsSchema, context);
    if (!inputs.ok) return inputs.result;
    const judgement = await read(context);
    switch (judgement.kind) {
      case 'concluded':
        return {
          kind: 'done',
          outcome: await withCommands(context, judgement.result, judgement.runs),
          blobs: await ciArtifacts(context, inputs.value.artifacts),
        };
      case 'none':
        return none(context, judgement.result);
      case 'pending':
        return pending(context, judgement);
    }
  },
  async refresh(context) {
    const judgement = await read(context);
    switch (judgement.kind) {
      case 'concluded':
      case 'none':
        return judgement.result;
      case 'pending':
        return makeOutcome<'ci_result'>({
          outcome_kind: 'ci_result',
          summary: judgement.summary,
          passed: false,
          head_sha: context.state.run.headSha,
          lint_passed: null,
          tests_passed: null,
          build_passed: null,
          typecheck_passed: null,
          test_count: null,
          failure_summary: judgement.summary,
          checks: judgement.checks,
          commands: [],
        });
    }
  },
};

async function read(context: StepContext): Promise<CiJudgement> {
  const { repo, state } = context;
  const { headSha, baseRef, settings, pullRequest } = state.run;
  // By time, most answers are unchanged. Those of REST do not count then, but a query does.
  const prefetched =
    pullRequest === null || context.because === 'time'
      ? undefined
      : await context.reader.prefetched(repo, pullRequest, { headSha, recent: 'with checks' });
  const reader = prefetched?.over(context.reader) ?? context.reader;
  const [checkRuns, statuses, required] = await Promise.all([
    reader.checkRuns(repo, headSha),
    reader.statuses(repo, headSha),
    reader.requiredChecks(repo, baseRef),
  ]);
  // A chain's own status says nothing about the code, and GitHub enforces a rule of the branch that requires it.
  const ownNames = statuses.filter(({ isOwn }) => isOwn).map(({ context: name }) => name);
  const isForOthers = ({ name, appId }: RequiredCheck) =>
    (appId !== null && appId !== context.appId) || !ownNames.includes(name);
  const facts: CiFacts = {
    headSha,
    baseRef,
    ownAppId: context.appId,
    checkRuns,
    statuses: statuses.filter(({ isOwn }) => !isOwn),
    required: [
      ...required.filter(isForOthers),
      ...settings.ci.required.map((name) => ({ name, appId: null })),
    ],
    suites: [],
    ignore: settings.ci.ignore,
  };
  const soFar = judgeCi(facts);
  if (soFar.kind !== 'concluded' || soFar.result.passed !== true) return soFar;
  return judgeCi({ ...facts, suites: await suitesOf({ ...context, reader }, soFar.runs) });
}

/**
 * The check suites of the apps whose checks count, one request per app. Unlike the full list, these rarely
 * change, so GitHub mostly answers 304.
 */
async function suitesOf(
  { reader, repo, state }: StepContext,
  counted: readonly CheckRunFacts[],
): Promise<CheckSuiteFacts[]> {
  const apps = [...new Set(counted.map((run) => run.appId))].filter((id) => id !== null);
  const suites = await Promise.all(apps.map((id) => reader.checkSuites(repo, state.run.headSha, id)));
  return suites.flat();
}

async function withCommands(
  { reader, repo }: StepContext,
  { content_hash: _, ...result }: CiResult,
  runs: readonly CheckRunFacts[],
): Promise<CiResult> {
  const commands = await readCommands(reader, repo, runs);
  return makeOutcome<'ci_result'>({ ...result, commands });
}

function none(context: StepContext, result: CiResult): StepResult {
  const graceEnds = new Date(context.state.run.createdAt.getTime() + FIRST_CHECK_GRACE_MS);
  if (context.clock.now() < graceEnds) {
    return {
      kind: 'waits',
      for: 'ci',
      until: graceEnds,
      reason: reason('step.waiting.ci', 'no check has reported yet'),
    };
  }
  return { kind: 'done', outcome: result };
}

function pending(context: StepContext, judgement: Extract<CiJudgement, { kind: 'pending' }>): StepResult {
  const now = context.clock.now();
  const started = context.invocation.startedAt ?? now;
  const ends = started.getTime() + context.state.run.settings.ci.wait;
  const evidence = judgement.checks
    .filter((check) => check.state === 'pending')
    .slice(0, 10)
    .map(({ name, url }) => ({
      kind: 'check' as const,
      id: name,
      label: name,
      ...(url !== null && { url }),
    }));
  if (now.getTime() >= ends) {
    return {
      kind: 'failed',
      reason: reason('step.failed.ci_wait', `gave up waiting for CI: ${judgement.summary}`, evidence),
      retryable: false,
    };
  }
  return {
    kind: 'waits',
    for: 'ci',
    until: new Date(Math.min(ends, now.getTime() + SLOW_POLL_MS)),
    reason: reason('step.waiting.ci', judgement.summary, evidence),
  };
}
