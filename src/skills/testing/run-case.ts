import type { Finding } from '../../domain/outcome/finding.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { SkillCase } from '../../domain/skill/case-file.ts';
import { executedWith } from '../../domain/skill/executed-with.ts';
import type { SkillPackage } from '../../domain/skill/package.ts';
import type { StepHandler } from '../../engine/steps/step.ts';
import { runBuiltInOnce } from '../adhoc/run-once.ts';
import { brokenWithoutAsking } from '../runtime/assertion/assert.ts';
import type { AnyHandler } from '../runtime/handler.ts';
import { outcomeOf } from '../runtime/outcome-of.ts';
import type { SkillContext } from '../runtime/skill-context.ts';
import { variantFor } from '../runtime/variant.ts';
import { HEAD_SHA } from './case-reader.ts';
import { caseStep } from './case-step.ts';

export type CaseResult =
  | { kind: 'passed' }
  | { kind: 'failed'; differences: Difference[] }
  /** It needs something that is not here. */
  | { kind: 'left_out'; because: 'no_model' | 'no_ci' | 'no_outcome' | 'kind_not_known' };

/** What a case is carried out with. */
export interface CaseTools {
  handlers: readonly AnyHandler<SkillContext>[];
  /** The skills that are more than their packages. */
  builtIn: readonly StepHandler[];
  /** How many of the case's answers nobody has asked for yet. */
  answersLeft(): number;
}

/** What a case expected, and what came instead; `null` for nothing. */
export interface Difference {
  what: 'verdict' | 'passed' | 'finding' | 'failure' | 'answers';
  expected: string | null;
  actual: string | null;
}

/** What a skill came to: an outcome, or why there is none. */
type Came = { outcome: Outcome } | { because: string };

/** Runs one case of a package as a step of a chain would run the skill, without GitHub and, unless given one, without a model. */
export async function runCase(
  skill: SkillPackage,
  of: SkillCase,
  { handlers, builtIn, answersLeft }: CaseTools,
  signal: AbortSignal,
): Promise<CaseResult> {
  const ownHandler = builtIn.find(({ name }) => name === skill.name);
  if (ownHandler) {
    const { outcome, because } = await runBuiltInOnce(ownHandler, caseStep(skill, of, signal));
    return resultOf(of, outcome ? { outcome } : { because: because ?? '' }, answersLeft());
  }
  const first = skill.artifacts.find(({ kind }) => kind !== 'description');
  const artifact = first && variantFor(skill.artifacts, first.name, null);
  const handler = handlers.find(({ kind }) => kind === artifact?.kind);
  const { outcome } = skill;
  if (outcome === null) return { kind: 'left_out', because: 'no_outcome' };
  if (!artifact || !handler) return { kind: 'left_out', because: 'kind_not_known' };
  if (artifact.kind === 'prompt_template' && !of.answers) return { kind: 'left_out', because: 'no_model' };

  const step = caseStep(skill, of, signal);
  const owner = { callId: step.session.id };
  const output = await handler.execute(artifact, { step, skill, outcome, owner });
  if (output.kind === 'waits') return { kind: 'left_out', because: 'no_ci' };
  const known = { headSha: HEAD_SHA, round: 1, skill: skill.name, step: 'test', inputsHash: '' };
  const because =
    output.kind === 'failed'
      ? output.because
      : brokenWithoutAsking(executedWith(artifact, skill), output.value);
  const came: Came =
    because === undefined && output.kind === 'done'
      ? outcomeOf(output.value, outcome, known)
      : { because: because ?? '' };
  return resultOf(of, came, answersLeft());
}

function resultOf(of: SkillCase, came: Came, answersLeft: number): CaseResult {
  const unlike = differencesOf(of, came);
  // What failed before it asked leaves answers over: that is no fault of the case beside the one that is told.
  const hasFailed = 'because' in came && unlike.length > 0;
  const differences = hasFailed ? unlike : [...unlike, ...unasked(answersLeft)];
  return differences.length === 0 ? { kind: 'passed' } : { kind: 'failed', differences };
}

/** A case holds an answer for each question: one too many was written for a question that is not asked. */
function unasked(left: number): Difference[] {
  return left === 0 ? [] : [{ what: 'answers', expected: null, actual: String(left) }];
}

function differencesOf({ expect }: SkillCase, came: Came): Difference[] {
  const failure = 'because' in came ? came.because : null;
  if (expect.fails !== undefined) {
    return failure?.includes(expect.fails)
      ? []
      : [{ what: 'failure', expected: expect.fails, actual: failure }];
  }
  if ('because' in came) return [{ what: 'failure', expected: null, actual: came.because }];
  const { outcome } = came;
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

/** `high sql/drop-table db/1.sql:3`, as cases write it. */
function asWritten({ severity, rule, file, line }: Finding): string {
  return `${severity} ${rule} ${file}${line === undefined ? '' : `:${line}`}`;
}

/** What is left of a list when each entry of another has taken one away. */
function without(list: readonly string[], taken: readonly string[]): string[] {
  const left = [...taken];
  return list.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
