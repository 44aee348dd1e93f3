import { formatDiagnostic } from '../../src/core/diagnostic.ts';
import type { Ids } from '../../src/core/ids.ts';
import type { Chain } from '../../src/domain/chain/chain.ts';
import { parseChain } from '../../src/domain/chain/parse.ts';
import { defaultSettings } from '../../src/domain/chain/settings.ts';
import type { RepositoryEvent } from '../../src/domain/event/event.ts';
import type { CiCheck } from '../../src/domain/outcome/ci-result.ts';
import { makeOutcome, type Outcome } from '../../src/domain/outcome/outcome.ts';
import { newRun } from '../../src/domain/run/new-run.ts';
import type { PullRequestNow } from '../../src/domain/run/plan.ts';
import type { Run, RunState } from '../../src/domain/run/run.ts';

export const HEAD = 'a'.repeat(40);
export const REPOSITORY = { full_name: 'acme/shop', owner: 'acme', name: 'shop', default_branch: 'main' };

/** A moment so many milliseconds into the tests' day. */
export function at(ms: number): Date {
  return new Date(Date.UTC(2026, 2, 2, 9) + ms);
}

/** The chain that the parser makes of a file. Throws with the errors if a test's file is invalid. */
export function chain(file: string): Chain {
  const known = {
    skills: ['pr-review', 'ci', 'stale-pull-requests'],
    actions: ['gh-comment', 'gh-label', 'gh-merge'],
  };
  const parsed = parseChain(file, 'chain.yaml', known);
  if (!parsed.chain)
    throw new Error(
      `the test's own chain has errors:\n${parsed.diagnostics.map(formatDiagnostic).join('\n')}`,
    );
  return parsed.chain;
}

/** A chain of these steps, each line one step as a YAML flow mapping: `id: a, depends_on: []`. */
export function chainOfSteps(...steps: string[]): Chain {
  const written = steps.map(
    (step) => `  - { ${/\b(skill|action):/.test(step) ? step : `${step}, skill: ci`} }`,
  );
  return chain(['name: example', 'trigger: { event: pr.opened }', 'steps:', ...written].join('\n'));
}

/** Readable ids: `run_1`, `inv_1`, `inv_2`. */
export function countingIds(): Ids {
  const counts = new Map<string, number>();
  return {
    next(prefix) {
      const count = (counts.get(prefix) ?? 0) + 1;
      counts.set(prefix, count);
      return `${prefix}_${count}`;
    },
  };
}

export function pullRequestEvent(more: { kind?: 'pr.opened' | 'pr.merged' } = {}): RepositoryEvent {
  const place = { installation_id: 1, repository: { id: 2, owner: 'acme', name: 'shop' }, pull_request: 7 };
  return more.kind === 'pr.merged'
    ? { kind: 'pr.merged', ...place }
    : { kind: 'pr.opened', ...place, action: 'opened' };
}

export function manualEvent(chainName: string): RepositoryEvent {
  return {
    kind: 'manual.fired',
    installation_id: 1,
    repository: { id: 2, owner: 'acme', name: 'shop' },
    pull_request: 7,
    run_id: 'run_fired',
    chain: chainName,
    actor: 'mia',
    inputs: {},
  };
}

/** A run that has not started, as the engine stores it; `more` overrides what it was fired with. */
export function runState(definition: Chain, more: Partial<Run> = {}, ids: Ids = countingIds()): RunState {
  const state = newRun(
    {
      chain: definition,
      settings: defaultSettings,
      event: pullRequestEvent(),
      deliveryId: null,
      pullRequest: 7,
      headSha: HEAD,
      baseRef: 'main',
      baseSha: '0'.repeat(40),
      facts: { trigger: { pr_number: 7, draft: false, author: 'ada' }, repo: REPOSITORY },
      paused: false,
    },
    ids,
    at(0),
  );
  return { ...state, run: { ...state.run, ...more } };
}

/** A pull request as GitHub has it: open, not a draft, for `main`. */
export function pullRequestNow(more: Partial<PullRequestNow> = {}): PullRequestNow {
  return {
    number: 7,
    state: 'open',
    merged: false,
    draft: false,
    headSha: HEAD,
    headRef: 'feature',
    baseRef: 'main',
    author: 'ada',
    labels: [],
    changedPaths: ['src/cart.ts'],
    ...more,
  };
}

export function reviewOutcome(passed: boolean | null, summary = 'no findings'): Outcome {
  return makeOutcome<'review_verdict'>({
    outcome_kind: 'review_verdict',
    summary,
    passed,
    verdict: passed === null ? null : passed ? 'APPROVE' : 'REQUEST_CHANGES',
    head_sha: HEAD,
    round: 1,
    findings: [],
    files_reviewed: 1,
    left_out: [],
    analyzers: [],
  });
}

const build: CiCheck = {
  name: 'build',
  source: 'check_run',
  state: 'passed',
  conclusion: 'success',
  required: false,
  duration_ms: null,
  url: null,
};

/** A CI result; `null` is a head without any check. */
export function ciOutcome(
  passed: boolean | null,
  summary = 'the only check passed',
  checks: CiCheck[] = passed === null
    ? []
    : [passed ? build : { ...build, state: 'failed', conclusion: 'failure' }],
): Outcome {
  return makeOutcome<'ci_result'>({
    outcome_kind: 'ci_result',
    summary,
    passed,
    head_sha: HEAD,
    lint_passed: null,
    tests_passed: null,
    build_passed: passed,
    typecheck_passed: null,
    test_count: null,
    failure_summary: null,
    checks,
    commands: [],
  });
}

export function actionOutcome(action: string, summary: string, passed: boolean | null = true): Outcome {
  return makeOutcome<'action_result'>({
    outcome_kind: 'action_result',
    summary,
    passed,
    action,
    details: {},
  });
}
