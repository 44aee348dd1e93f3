import type { Chain, Step } from '../../src/domain/chain/chain.ts';
import { defaultSettings } from '../../src/domain/chain/settings.ts';
import { criterion } from '../../src/domain/explanation/explanation.ts';
import { type Reason, reason } from '../../src/domain/explanation/reason.ts';
import type { CiCheck, CiResult } from '../../src/domain/outcome/ci-result.ts';
import type { Finding } from '../../src/domain/outcome/finding.ts';
import { makeOutcome, type Outcome } from '../../src/domain/outcome/outcome.ts';
import type { ReviewVerdict } from '../../src/domain/outcome/review-verdict.ts';
import type { Approval } from '../../src/domain/policy/approval.ts';
import { type Invocation, NOT_BEGUN, type Run, type RunState } from '../../src/domain/run/run.ts';
import type { Pages } from '../../src/messages/run/evidence.ts';

export const HEAD = 'abc1234def5678abc1234def5678abc1234def56';
export const NEWER = 'fed9876fed9876fed9876fed9876fed9876fed98';
const MERGE_SHA = '1112223334445556667778889990001112223334';

/** No web page is known for anything. */
export const NOWHERE: Pages = { github: null };

/** A moment on the day of all tests, such as `at('12:05')`. */
export function at(time: string): Date {
  return new Date(`2025-03-01T${time}:00.000Z`);
}

function step(index: number, id: string, uses: Step['uses'], more: Partial<Step> = {}): Step {
  return {
    id,
    index,
    uses,
    dependsOn: [],
    with: {},
    retry: { attempts: 1, backoffMs: 0 },
    onFailure: 'fail',
    requiresApproval: false,
    ...more,
  };
}

/** The shipped chain as the engine runs it. */
const prReview: Chain = {
  name: 'pr-review',
  trigger: { event: 'pr.opened', filter: {} },
  steps: [
    step(0, 'review', { kind: 'skill', name: 'pr-review' }),
    step(1, 'ci', { kind: 'skill', name: 'ci' }, { dependsOn: ['review'] }),
    step(
      2,
      'merge',
      { kind: 'action', name: 'gh-merge' },
      { dependsOn: ['ci'], requiresApproval: true, with: { method: 'squash' } },
    ),
    step(3, 'changes', { kind: 'action', name: 'gh-comment' }, { dependsOn: ['review'] }),
  ],
};

export function makeRun(more: Partial<Run> = {}): Run {
  return {
    id: 'run_01',
    installationId: 1,
    repositoryId: 2,
    repository: 'acme/shop',
    pullRequest: 7,
    headSha: HEAD,
    baseRef: 'main',
    baseSha: '0'.repeat(40),
    chain: 'pr-review',
    definition: prReview,
    settings: defaultSettings,
    facts: {
      trigger: { changed_files: 3 },
      repo: { full_name: 'acme/shop', owner: 'acme', name: 'shop', default_branch: 'main' },
    },
    event: {
      kind: 'pr.opened',
      installation_id: 1,
      repository: { id: 2, owner: 'acme', name: 'shop' },
      pull_request: 7,
      action: 'opened',
    },
    deliveryId: null,
    status: 'running',
    reason: null,
    paused: false,
    createdAt: at('12:00'),
    updatedAt: at('12:05'),
    finishedAt: null,
    ...more,
  };
}

function makeInvocation(stepIndex: number, stepId: string, more: Partial<Invocation> = {}): Invocation {
  return {
    id: `inv_${stepId}`,
    runId: 'run_01',
    stepIndex,
    stepId,
    ...NOT_BEGUN,
    ...more,
  };
}

export function done(outcome: Outcome): Partial<Invocation> {
  return {
    status: 'completed',
    outcome,
    reason: reason('step.completed', outcome.summary),
    startedAt: at('12:01'),
    finishedAt: at('12:02'),
  };
}

export function ends(status: Invocation['status'], because: Reason): Partial<Invocation> {
  return {
    status,
    reason: because,
    startedAt: status === 'skipped' ? null : at('12:01'),
    finishedAt: at('12:03'),
  };
}

/** The four steps of the shipped chain, pending by default. */
export function makeState(
  run: Partial<Run>,
  steps: { [id in 'review' | 'ci' | 'merge' | 'changes']?: Partial<Invocation> } = {},
): RunState {
  return {
    run: makeRun(run),
    invocations: prReview.steps.map(({ id, index }) =>
      makeInvocation(index, id, steps[id as keyof typeof steps] ?? {}),
    ),
  };
}

export function finding(more: Partial<Finding> = {}): Finding {
  return {
    severity: 'critical',
    category: 'secret',
    file: 'src/config.ts',
    line: 12,
    description: 'A cloud access key is written into the code.',
    suggestion: 'Take it from the environment, and revoke this one: whoever can read the repository has it.',
    rule: 'secrets/aws-access-key',
    evidence: "const key = 'AKIA…';",
    ...more,
  };
}

export const suggestion = finding({
  severity: 'medium',
  category: 'error-handling',
  file: 'src/cart.ts',
  line: 40,
  description: 'The error is caught and thrown away.',
  suggestion: 'Log it, or let it go on.',
  rule: 'ast-grep/swallowed-error',
  evidence: 'catch {}',
});

export function makeReview(
  more: Partial<Omit<ReviewVerdict, 'content_hash' | 'outcome_kind'>> = {},
): ReviewVerdict {
  return makeOutcome<'review_verdict'>({
    outcome_kind: 'review_verdict',
    summary: 'No findings in 3 files.',
    passed: true,
    verdict: 'APPROVE',
    head_sha: HEAD,
    round: 1,
    findings: [],
    files_reviewed: 3,
    left_out: [],
    analyzers: [
      { name: 'oxlint', version: '1.94.0', status: 'ok', files: 3, duration_ms: 210 },
      { name: 'secrets', version: '12.0.0', status: 'ok', files: 3, duration_ms: 340 },
    ],
    ...more,
  });
}

export function check(name: string, more: Partial<CiCheck> = {}): CiCheck {
  return {
    name,
    source: 'check_run',
    state: 'passed',
    conclusion: 'success',
    required: false,
    duration_ms: 65_000,
    url: `https://ci.example/${encodeURIComponent(name)}`,
    ...more,
  };
}

export function makeCi(
  checks: CiCheck[],
  more: Partial<Omit<CiResult, 'content_hash' | 'outcome_kind'>> = {},
): CiResult {
  const failed = checks.filter(({ state }) => state === 'failed');
  return makeOutcome<'ci_result'>({
    outcome_kind: 'ci_result',
    summary:
      checks.length === 0
        ? 'no checks ran on this commit'
        : failed.length === 0
          ? `all ${checks.length} checks passed`
          : `${failed.length} of ${checks.length} checks failed: ${failed.map(({ name }) => name).join(', ')}`.slice(
              0,
              4_000,
            ),
    passed: checks.length === 0 ? null : failed.length === 0,
    head_sha: HEAD,
    lint_passed: null,
    tests_passed: null,
    build_passed: null,
    typecheck_passed: null,
    test_count: null,
    failure_summary: null,
    checks,
    commands: [],
    ...more,
  });
}

export const mergedOutcome = makeOutcome<'action_result'>({
  outcome_kind: 'action_result',
  summary: 'merged into main as 1112223, countersigned by alice',
  passed: true,
  action: 'gh-merge',
  details: { sha: MERGE_SHA, head_sha: HEAD, method: 'squash', countersigned_by: ['alice'] },
});

export function makeApproval(more: Partial<Approval> = {}): Approval {
  return {
    id: 'apr_01',
    runId: 'run_01',
    invocationId: 'inv_merge',
    headSha: HEAD,
    baseRef: 'main',
    status: 'open',
    askedAt: at('12:03'),
    lookedAt: null,
    watch: null,
    decision: criterion('pending', 'not merging: nobody has countersigned yet'),
    countersignedBy: [],
    rejectedBy: [],
    answers: [],
    authorship: null,
    ...more,
  };
}
