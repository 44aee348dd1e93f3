import { type Finding, placeInWords } from '../../domain/outcome/finding.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { SkillCase } from '../../domain/skill/case-file.ts';
import { executedWith } from '../../domain/skill/executed-with.ts';
import type { SkillPackage } from '../../domain/skill/package.ts';
import type { StepHandler } from '../../engine/steps/step.ts';
import { NO_MODEL } from '../../messages/skills/model.ts';
import { runBuiltInOnce } from '../adhoc/run-once.ts';
import { brokenWithoutModel } from '../runtime/assertion/assert.ts';
import { executePackage } from '../runtime/execute-package.ts';
import type { AnyHandler } from '../runtime/handler.ts';
import { outcomeOf } from '../runtime/outcome-of.ts';
import type { SkillContext } from '../runtime/skill-context.ts';
import type { ExecuteArtifact } from '../runtime/trace/execute-artifact.ts';
import { HEAD_SHA } from './case-reader.ts';
import { caseStep } from './case-step.ts';

export type CaseResult =
  | { kind: 'passed' }
  | { kind: 'failed'; differences: Difference[] }
  /** The case needs something that is missing here. */
  | { kind: 'left_out'; because: 'no_model' | 'no_ci' | 'no_outcome' | 'kind_not_known' };

/** The parts that run a case. */
export interface CaseTools {
  handlers: readonly AnyHandler<SkillContext>[];
  /** Skills with a handler in the app's code. */
  builtIn: readonly StepHandler[];
  /** The number of recorded answers that are unused. */
  answersLeft(): number;
  /** The packages that programs can run. */
  packages?: NonNullable<SkillContext['packages']>;
  /** Ends the processes that were started for the case. */
  stop(): Promise<void>;
}

/** What a case expected and what it got; `null` for nothing. */
interface Difference {
  what: 'verdict' | 'passed' | 'finding' | 'failure' | 'answers';
  expected: string | null;
  actual: string | null;
}

/** The result of a skill: an outcome, or why there is none. */
type SkillResult = { outcome: Outcome } | { because: string };

/**
 * Runs one case of a package as a chain's step would, without GitHub and with recorded answers as the only
 * model.
 */
export async function runCase(
  skill: SkillPackage,
  of: SkillCase,
  { handlers, builtIn, answersLeft, packages }: CaseTools,
  signal: AbortSignal,
): Promise<CaseResult> {
  const ownHandler = builtIn.find(({ name }) => name === skill.name);
  if (ownHandler) {
    const { outcome, because } = await runBuiltInOnce(ownHandler, caseStep(skill, of, signal));
    return resultOf(of, outcome ? { outcome } : { because: because ?? '' }, answersLeft());
  }
  const { outcome } = skill;
  if (outcome === null) return { kind: 'left_out', because: 'no_outcome' };

  const step = caseStep(skill, of, signal);
  const owner = { callId: step.session.id };
  const tools = { handlers, modelFamily: null, executeArtifact: executeInCase };
  const output = await executePackage(
    { step, skill, outcome, owner, ...(packages ? { packages } : {}) },
    tools,
  );
  if (output.kind === 'unusable') return { kind: 'left_out', because: 'kind_not_known' };
  if (output.kind === 'waits') return { kind: 'left_out', because: 'no_ci' };
  if (output.kind === 'failed' && output.because === NO_MODEL && !of.answers)
    return { kind: 'left_out', because: 'no_model' };
  const known = {
    headSha: HEAD_SHA,
    round: 1,
    skill: skill.name,
    ownSchema: skill.outcomeSchema,
    step: 'test',
    inputsHash: '',
  };
  const result: SkillResult =
    output.kind === 'done' ? outcomeOf(output.value, outcome, known) : { because: output.because };
  return resultOf(of, result, answersLeft());
}

/** The files of a case's workflow artifact, or `null` if it names none of this name. */
export function filesOfCase(
  left: NonNullable<SkillCase['ci_artifacts']>,
  name: string,
): { path: string; content: string }[] | null {
  const files = Object.hasOwn(left, name) ? left[name] : undefined;
  return files ? Object.entries(files).map(([path, content]) => ({ path, content })) : null;
}

/** Executes an artifact of a case, with the assertions that need no model and without a trace. */
export const executeInCase: ExecuteArtifact = async (handler, artifact, context) => {
  const output = await handler.execute(artifact, context);
  if (output.kind === 'waits') return output;
  const checked = { warnings: [], ...output };
  if (output.kind === 'failed') return checked;
  const because = brokenWithoutModel(executedWith(artifact, context.skill), output.value);
  return because === undefined
    ? checked
    : { kind: 'failed', because, retryable: false, log: output.log, warnings: checked.warnings };
};

function resultOf(of: SkillCase, result: SkillResult, answersLeft: number): CaseResult {
  const unexpected = differencesOf(of, result);
  // A skill that failed before it asked leaves answers unused, which is not another error.
  const hasFailed = 'because' in result && unexpected.length > 0;
  const differences = hasFailed ? unexpected : [...unexpected, ...unusedAnswers(answersLeft)];
  return differences.length === 0 ? { kind: 'passed' } : { kind: 'failed', differences };
}

/** A case has one answer per question. An unused answer was written for a question that is not asked. */
function unusedAnswers(left: number): Difference[] {
  return left === 0 ? [] : [{ what: 'answers', expected: null, actual: String(left) }];
}

function differencesOf({ expect }: SkillCase, result: SkillResult): Difference[] {
  const failure = 'because' in result ? result.because : null;
  if (expect.fails !== undefined) {
    return failure?.includes(expect.fails)
      ? []
      : [{ what: 'failure', expected: expect.fails, actual: failure }];
  }
  if ('because' in result) return [{ what: 'failure', expected: null, actual: result.because }];
  const { outcome } = result;
  const verdict = outcome.outcome_kind === 'review_verdict' ? outcome.verdict : null;
  const differences: Difference[] = [];
  if (expect.verdict !== undefined && expect.verdict !== verdict) {
    differences.push({ what: 'verdict', expected: expect.verdict, actual: verdict });
  }
  if (expect.passed !== undefined && expect.passed !== outcome.passed) {
    differences.push({ what: 'passed', expected: String(expect.passed), actual: String(outcome.passed) });
  }
  if (expect.findings === undefined) return differences;
  const findings = outcome.outcome_kind === 'review_verdict' ? outcome.findings.map(asWritten) : [];
  const missing = without(expect.findings, findings);
  const surplus = without(findings, expect.findings);
  return [
    ...differences,
    ...missing.map((expected): Difference => ({ what: 'finding', expected, actual: null })),
    ...surplus.map((actual): Difference => ({ what: 'finding', expected: null, actual })),
  ];
}

/** Format: `high sql/drop-table db/1.sql:3`, as in cases. */
function asWritten({ severity, rule, ...place }: Finding): string {
  return `${severity} ${rule} ${placeInWords(place)}`;
}

/** Removes one occurrence from the list for each entry of the other list. */
function without(list: readonly string[], taken: readonly string[]): string[] {
  const left = [...taken];
  return list.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
