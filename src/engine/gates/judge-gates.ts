import { contentHash } from '../../core/canonical.ts';
import { CountersignError } from '../../core/errors.ts';
import type { Gate } from '../../domain/gate/gate.ts';
import type { PlacedGate } from '../../domain/gate/placed.ts';
import type { Criterion, GateVerdict } from '../../domain/outcome/gate-verdict.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import { factsFor } from '../../domain/policy/gate/criterion.ts';
import { question, type World } from '../../domain/policy/gate/judge.ts';
import { unjudged, verdictKey, verdictOf } from '../../domain/policy/gate/verdict.ts';
import { asConditionsSeeIt, conditionContext } from '../../domain/run/context.ts';
import type { StepContext, StepHandler, StepResult } from '../steps/step.ts';
import { readFacts } from './pull-request-facts.ts';
import { isPassingTrouble } from './temporary-failure.ts';

/** What judging gates needs besides a step's own context. */
export interface GateContext extends StepContext {
  /** What the step's gates came to in this attempt, as far as it is news; the session records it with its result. */
  readonly judged: Outcome[];
}

export type SkillOf = (name: string) => StepHandler | undefined;

/**
 * Judges gates on facts read for this one look, and leaves the verdicts that are news with the session. A gate that throws is
 * not passed and blocks; passing trouble, of GitHub's or the host's, is thrown on, because it is no verdict.
 * @param fresh outcomes that take the place of those recorded.
 */
export async function judgeGates(
  context: GateContext,
  gates: readonly PlacedGate[],
  skillOf: SkillOf,
  fresh: ReadonlyMap<string, Outcome> = new Map(),
): Promise<GateVerdict[]> {
  if (gates.length === 0) return [];
  let world: World;
  try {
    world = {
      facts: await readFacts(context, factsFor(gates.map(({ gate }) => gate))),
      context: conditionContext(context.state, context.step.id, fresh),
      now: context.clock.now(),
    };
  } catch (error) {
    return remembered(
      context,
      gates.map((placed) => thrown(context, placed, error)),
    );
  }
  const verdicts: GateVerdict[] = [];
  for (const placed of gates) {
    try {
      verdicts.push(await judge(context, placed, world, skillOf));
    } catch (error) {
      verdicts.push(thrown(context, placed, error));
    }
  }
  return remembered(context, verdicts);
}

async function judge(
  context: GateContext,
  placed: PlacedGate,
  world: World,
  skillOf: SkillOf,
): Promise<GateVerdict> {
  const { gate } = placed;
  if (gate.kind === 'skill') return bySkill(context, { ...placed, gate }, skillOf);
  const questions = gate.criteria.map((criterion) => question(criterion, world));
  const hash = contentHash({ gate, inputs: questions.map(({ inputs }) => inputs) });
  return (
    before(context, placed, hash) ??
    verdictOf(
      placed,
      context.step.id,
      questions.map((asked) => asked.judge()),
      hash,
    )
  );
}

/**
 * Runs the gate's skill in this session. What it says of a head holds for that head, so it is asked once; but a skill whose
 * answer can change, such as CI's, and one that came to nothing are asked at every look.
 */
async function bySkill(
  context: GateContext,
  placed: PlacedGate & { gate: Extract<Gate, { kind: 'skill' }> },
  skillOf: SkillOf,
): Promise<GateVerdict> {
  const { gate } = placed;
  const { headSha, baseRef } = context.state.run;
  const handler = skillOf(gate.skill);
  if (!handler) throw new CountersignError('step.unknown', `there is no skill named ${gate.skill}`);
  const once = contentHash({ gate, headSha, baseRef });
  const asked = handler.refresh ? undefined : before(context, placed, once);
  if (asked) return asked;
  const result = await handler.run({ ...context, inputs: {}, step: { ...context.step, with: {} } });
  const isLasting = result.kind === 'done' && !handler.refresh;
  const criterion = cameTo(context, gate.skill, result);
  const hash = isLasting ? once : contentHash({ gate, headSha, baseRef, criterion });
  const known = before(context, placed, hash);
  if (known) return known;
  if (result.kind === 'done') context.judged.push(result.outcome);
  return verdictOf(placed, context.step.id, [criterion], hash);
}

/** Only an outcome that passed is a pass (I5). */
function cameTo({ state }: GateContext, skill: string, result: StepResult): Criterion {
  const done = result.kind === 'done' ? asConditionsSeeIt(result.outcome, state) : undefined;
  return {
    id: skill,
    description: `the skill ${skill} passes`,
    passed: done?.passed === true,
    evidence: result.kind === 'done' ? result.outcome.summary : result.reason.summary,
    may_change: result.kind === 'waits' || result.kind === 'superseded',
  };
}

function thrown(context: GateContext, placed: PlacedGate, error: unknown): GateVerdict {
  if (isPassingTrouble(error, context.signal)) throw error;
  context.log.error(
    { run: context.state.run.id, session: context.session.id, gate: placed.gate.id, err: error },
    'a gate threw',
  );
  // What went wrong inside may name paths, hosts or queries: that is for the log, not for a public check run.
  const because =
    error instanceof CountersignError
      ? error.message
      : `it failed inside Countersign; the log has the details under ${context.session.id}`;
  const hash = contentHash({ gate: placed.gate, because });
  return before(context, placed, hash) ?? unjudged(placed, context.step.id, because, hash);
}

/** The last verdict of the gate, when it was judged on the same inputs. */
function before(
  context: GateContext,
  { gate, scope, at }: PlacedGate,
  hash: string,
): GateVerdict | undefined {
  const last = lastVerdict(context, { gate: gate.id, scope, at, step: context.step.id });
  return last?.inputs_hash === hash ? last : undefined;
}

/** Keeps those that say something new for the session's record. */
function remembered(context: GateContext, verdicts: GateVerdict[]): GateVerdict[] {
  for (const verdict of verdicts) {
    if (lastVerdict(context, verdict)?.inputs_hash !== verdict.inputs_hash) context.judged.push(verdict);
  }
  return verdicts;
}

/** The newest verdict of a gate: of this look, or of one before. */
export function lastVerdict(
  { state, judged }: Pick<GateContext, 'state' | 'judged'>,
  of: Pick<GateVerdict, 'gate' | 'scope' | 'at' | 'step'>,
): GateVerdict | undefined {
  const now = judged.filter((outcome) => outcome.outcome_kind === 'gate_verdict');
  return [...(state.verdicts ?? []), ...now].findLast((verdict) => verdictKey(verdict) === verdictKey(of));
}
