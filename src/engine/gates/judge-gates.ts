import { contentHash } from '../../core/canonical.ts';
import { CountersignError } from '../../core/errors.ts';
import type { Gate } from '../../domain/gate/gate.ts';
import type { GateScope, PlacedGate } from '../../domain/gate/placed.ts';
import type { Criterion, GateVerdict } from '../../domain/outcome/gate-verdict.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import { factsFor } from '../../domain/policy/gate/criterion.ts';
import type { GateInputs } from '../../domain/policy/gate/judge.ts';
import { type Grounds, judgeGate } from '../../domain/policy/gate/judge-gate.ts';
import { lastVerdict, verdictsSoFar } from '../../domain/policy/gate/verdict.ts';
import { asConditionsSeeIt, conditionContext } from '../../domain/run/context.ts';
import type { StepContext, StepHandler, StepResult } from '../steps/step.ts';
import { readFacts } from './pull-request-facts.ts';
import { isTemporaryFailure } from './temporary-failure.ts';

/** What judging gates needs besides a step's own context. */
export interface GateContext extends StepContext {
  /** The new verdicts on the step's gates in this attempt. The session records them with its result. */
  readonly judged: Outcome[];
}

/**
 * The skill of a name, built in or a package that a gate of this scope asks.
 * @param scope only with it, a package is found
 */
export type SkillOf = (name: string, scope?: GateScope) => StepHandler | undefined;

/**
 * Judges gates on facts read for this one attempt, and leaves the verdicts that are news with the session. A
 * gate that throws is not passed and blocks. A temporary failure of GitHub or the host is thrown on, because it
 * is no verdict.
 * @param fresh outcomes that replace the recorded ones
 */
export async function judgeGates(
  context: GateContext,
  gates: readonly PlacedGate[],
  skillOf: SkillOf,
  fresh: ReadonlyMap<string, Outcome> = new Map(),
): Promise<GateVerdict[]> {
  if (gates.length === 0) return [];
  let inputs: GateInputs | { error: unknown };
  try {
    inputs = await readInputs(context, gates, fresh);
  } catch (error) {
    inputs = { error };
  }
  const known = verdictsSoFar(context.state, context.judged);
  const verdicts: GateVerdict[] = [];
  for (const placed of gates) {
    const last = lastVerdict(known, placed, context.step.id);
    verdicts.push(await judge(context, placed, inputs, skillOf, last));
  }
  context.judged.push(...verdicts.filter((verdict) => !known.includes(verdict)));
  return verdicts;
}

async function readInputs(
  context: StepContext,
  gates: readonly PlacedGate[],
  fresh: ReadonlyMap<string, Outcome>,
): Promise<GateInputs> {
  return {
    facts: await readFacts(context, factsFor(gates.map(({ gate }) => gate))),
    context: conditionContext(context.state, context.step.id, fresh),
    now: context.clock.now(),
  };
}

async function judge(
  context: GateContext,
  placed: PlacedGate,
  inputs: GateInputs | { error: unknown },
  skillOf: SkillOf,
  last: GateVerdict | undefined,
): Promise<GateVerdict> {
  const step = context.step.id;
  try {
    if ('error' in inputs) throw inputs.error;
    const { gate } = placed;
    const grounds: Grounds =
      gate.kind === 'skill'
        ? await askSkill(context, gate, (name) => skillOf(name, placed.scope), last)
        : { kind: 'inputs', inputs };
    return judgeGate(placed, step, grounds, last);
  } catch (error) {
    return judgeGate(placed, step, { kind: 'error', because: becauseOf(context, placed, error) }, last);
  }
}

/**
 * Runs the gate's skill in this session. What it says of a head holds for that head, so it is asked once. A
 * skill whose answer can change, such as CI's, and one without an outcome are asked at every attempt.
 */
async function askSkill(
  context: GateContext,
  gate: Extract<Gate, { kind: 'skill' }>,
  skillOf: SkillOf,
  last: GateVerdict | undefined,
): Promise<Grounds> {
  const { headSha, baseRef } = context.state.run;
  const handler = skillOf(gate.skill);
  if (!handler) throw new CountersignError('step.unknown', `there is no skill named ${gate.skill}`);
  const once = contentHash({ gate, headSha, baseRef });
  if (!handler.refresh && last?.inputs_hash === once) return { kind: 'same_answer', verdict: last };
  const result = await handler.run({ ...context, inputs: {}, step: { ...context.step, with: {} } });
  const isLasting = result.kind === 'done' && !handler.refresh;
  const criterion = criterionOf(context, gate.skill, result);
  const hash = isLasting ? once : contentHash({ gate, headSha, baseRef, criterion });
  if (result.kind === 'done' && last?.inputs_hash !== hash) context.judged.push(result.outcome);
  return { kind: 'answer', criterion, hash };
}

/** Only an outcome that passed is a pass (I5). */
function criterionOf({ state }: StepContext, skill: string, result: StepResult): Criterion {
  const done = result.kind === 'done' ? asConditionsSeeIt(result.outcome, state) : undefined;
  return {
    id: skill,
    description: `the skill ${skill} passes`,
    passed: done?.passed === true,
    evidence: result.kind === 'done' ? result.outcome.summary : result.reason.summary,
    may_change: result.kind === 'waits' || result.kind === 'superseded',
  };
}

/** @throws the error itself if it is a temporary failure */
function becauseOf(
  { state, session, log, signal }: StepContext,
  { gate }: PlacedGate,
  error: unknown,
): string {
  if (isTemporaryFailure(error, signal)) throw error;
  log.error({ run: state.run.id, session: session.id, gate: gate.id, err: error }, 'a gate threw');
  // The message of another error may name paths, hosts or queries. It belongs in the log, not in a public check run.
  return error instanceof CountersignError
    ? error.message
    : `it failed inside Countersign; the log has the details under ${session.id}`;
}
