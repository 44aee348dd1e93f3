import { redact } from '../../../core/redact/redact.ts';
import type { CiCheck, CiResult } from '../../../domain/outcome/ci-result.ts';
import { makeOutcome } from '../../../domain/outcome/outcome.ts';
import { gateCheckName } from '../../../domain/policy/gate-check.ts';
import { clip } from '../../../messages/text/pretty.ts';
import type { CheckRunFacts, CheckSuiteFacts, RequiredCheck, StatusFacts } from '../../../ports/github.ts';
import { summaryOf, testsOf } from './check-text.ts';

export interface CiFacts {
  headSha: string;
  baseRef: string;
  /** This app's id. Its own check runs say nothing about the code. */
  ownAppId: number;
  checkRuns: readonly CheckRunFacts[];
  /** Read when every check run has passed: a workflow may still have jobs without a check run. */
  suites: readonly CheckSuiteFacts[];
  statuses: readonly StatusFacts[];
  required: readonly RequiredCheck[];
  /** Names from the repository's settings. */
  ignore: readonly string[];
}

export type CiJudgement =
  /** Includes the check runs that count. */
  | { kind: 'concluded'; result: CiResult; runs: readonly CheckRunFacts[] }
  | { kind: 'pending'; summary: string; checks: CiCheck[] }
  /** The head has no checks at all. */
  | { kind: 'none'; result: CiResult };

/** In characters, for all failed checks together. */
const MAX_FAILURE_LENGTH = 2_000;

const PASSING = new Set(['success', 'neutral', 'skipped']);

/**
 * The combined result of all checks of one head. A failed check decides as soon as everything has reported. A
 * required check that is missing is pending, never passed. Of several runs of one check by one app, only the
 * newest counts.
 */
export function judgeCi(facts: CiFacts): CiJudgement {
  const runs = countedRuns(facts);
  const checks = collect(facts, runs);
  const at = {
    outcome_kind: 'ci_result' as const,
    head_sha: facts.headSha,
    commands: [],
    test_count: testsOf(runs),
  };
  if (checks.length === 0) {
    const result = makeOutcome<'ci_result'>({
      ...at,
      summary: 'no checks ran on this commit',
      passed: null,
      lint_passed: null,
      tests_passed: null,
      build_passed: null,
      typecheck_passed: null,
      failure_summary: null,
      checks,
    });
    return { kind: 'none', result };
  }
  const pending = checks.filter((check) => check.state === 'pending');
  if (pending.length > 0) {
    const done = checks.length - pending.length;
    return { kind: 'pending', summary: `${done} of ${checks.length} checks are done`, checks };
  }
  const failed = checks.filter((check) => check.state === 'failed');
  const names = failed.map((check) => check.name);
  const result = makeOutcome<'ci_result'>({
    ...at,
    summary:
      failed.length === 0
        ? `${checks.length === 1 ? 'the only check' : `all ${checks.length} checks`} passed`
        : `${failed.length} of ${checks.length} ${checks.length === 1 ? 'check' : 'checks'} failed: ${listed(names)}`,
    passed: failed.length === 0,
    lint_passed: passedByName(checks, /lint|format|style/i),
    tests_passed: passedByName(checks, /test|spec/i),
    build_passed: passedByName(checks, /build|compile/i),
    typecheck_passed: passedByName(checks, /type-?check|types|tsc|mypy/i),
    failure_summary:
      failed.length === 0 ? null : clip(redact(failed.map(failureOf).join('; ')), MAX_FAILURE_LENGTH),
    checks,
  });
  return { kind: 'concluded', result, runs: runs.toSorted((a, b) => a.id - b.id) };
}

/** The text about a failed check: its name, GitHub's conclusion, and its own summary. */
function failureOf({ name, conclusion, said: text }: CiCheck): string {
  return `${name}: ${conclusion}${text === undefined ? '' : ` (${text})`}`;
}

/**
 * The check runs that count: not this app's own, not those that the settings ignore, and only the newest of
 * several runs of one check.
 */
function countedRuns(facts: CiFacts): CheckRunFacts[] {
  const newest = new Map<string, CheckRunFacts>();
  for (const run of facts.checkRuns) {
    if (run.appId === facts.ownAppId || facts.ignore.includes(run.name)) continue;
    // The key includes the suite: a second workflow with a job of the same name must not hide a failed one.
    const key = `${run.appId ?? ''} ${run.suiteId ?? ''} ${run.name}`;
    const other = newest.get(key);
    if (!other || run.id > other.id) newest.set(key, run);
  }
  return [...newest.values()];
}

function collect(facts: CiFacts, runs: readonly CheckRunFacts[]): CiCheck[] {
  const matches = (rule: RequiredCheck, name: string, appId: number | null) =>
    rule.name === name && (rule.appId === null || rule.appId === appId);
  const isRequired = (name: string, appId: number | null) =>
    facts.required.some((rule) => matches(rule, name, appId));
  // GitHub enforces a rule that requires this app's own check run. Waiting for it here would be a deadlock.
  // The gate check belongs to this app, whether it exists yet or not.
  const ownNames = [
    gateCheckName(facts.baseRef),
    ...facts.checkRuns.filter((run) => run.appId === facts.ownAppId).map((run) => run.name),
  ];
  const checks: CiCheck[] = [];
  for (const run of runs) {
    const conclusion = run.status === 'completed' ? (run.conclusion ?? 'unknown') : run.status;
    const state = run.status !== 'completed' ? 'pending' : stateOf(conclusion);
    const text = state === 'failed' ? summaryOf(run) : undefined;
    checks.push({
      name: run.name,
      source: 'check_run',
      state,
      conclusion,
      ...(text === undefined ? {} : { said: text }),
      required: isRequired(run.name, run.appId),
      duration_ms:
        run.startedAt && run.completedAt
          ? Math.max(0, run.completedAt.getTime() - run.startedAt.getTime())
          : null,
      url: run.url,
    });
  }
  for (const status of facts.statuses) {
    if (facts.ignore.includes(status.context)) continue;
    const state = status.state === 'success' ? 'passed' : status.state === 'pending' ? 'pending' : 'failed';
    const text = state === 'failed' ? summaryOf({ title: status.description, summary: null }) : undefined;
    checks.push({
      name: status.context,
      source: 'status',
      state,
      conclusion: status.state,
      ...(text === undefined ? {} : { said: text }),
      required: isRequired(status.context, null),
      duration_ms: null,
      url: status.url,
    });
  }
  for (const suite of facts.suites) {
    // GitHub creates an empty suite for every app with the permission, and it stays queued forever. Only a
    // suite with checks is active.
    const atWork = suite.checkRuns > 0 && suite.status !== 'completed';
    const waitsForIgnored = facts.checkRuns.some(
      (run) => run.appId === suite.appId && run.status !== 'completed' && facts.ignore.includes(run.name),
    );
    if (!atWork || waitsForIgnored || suite.appId === facts.ownAppId || facts.ignore.includes(suite.appName))
      continue;
    checks.push({
      name: suite.appName,
      source: 'check_suite',
      state: 'pending',
      conclusion: suite.status,
      required: false,
      duration_ms: null,
      url: null,
    });
  }
  const missing = facts.required.filter((rule) => {
    const reported =
      runs.some((run) => matches(rule, run.name, run.appId)) ||
      facts.statuses.some((status) => matches(rule, status.context, null));
    const isOwn = rule.appId === facts.ownAppId || (rule.appId === null && ownNames.includes(rule.name));
    return !reported && !isOwn && !facts.ignore.includes(rule.name);
  });
  for (const rule of eachOnce(missing)) {
    checks.push({
      name: rule.name,
      source: 'required',
      state: 'pending',
      conclusion: 'not reported yet',
      required: true,
      duration_ms: null,
      url: null,
    });
  }
  // Compares all members: a different order in GitHub's list must not look like a change.
  const order = (check: CiCheck) => [check.name, check.source, JSON.stringify(check)].join('\0');
  return checks.sort((a, b) => (order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0));
}

/**
 * The branch and the settings may require the same check, possibly with only one of them naming the app that
 * must report it.
 */
function eachOnce(rules: readonly RequiredCheck[]): RequiredCheck[] {
  return rules.filter(
    (rule, index) =>
      !rules.some(
        (other, at) =>
          other.name === rule.name && (other.appId === rule.appId ? at < index : rule.appId === null),
      ),
  );
}

/**
 * `action_required`, `cancelled`, `stale`, `startup_failure`, `timed_out` and unknown values do not pass
 * (I5).
 */
function stateOf(conclusion: string): CiCheck['state'] {
  if (conclusion === 'success') return 'passed';
  return PASSING.has(conclusion) ? 'neutral' : 'failed';
}

function passedByName(checks: readonly CiCheck[], name: RegExp): boolean | null {
  const named = checks.filter((check) => name.test(check.name) && check.state !== 'neutral');
  return named.length === 0 ? null : named.every((check) => check.state === 'passed');
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}
