import { z } from 'zod';
import type { Json } from '../../core/canonical.ts';
import { messageOf } from '../../core/errors.ts';
import { isMapping } from '../../core/mapping.ts';
import { schemaMismatch } from '../../domain/artifact/json-schema.ts';
import { isBlocking } from '../../domain/outcome/finding.ts';
import type { GateVerdict } from '../../domain/outcome/gate-verdict.ts';
import { makeOutcome, type Outcome } from '../../domain/outcome/outcome.ts';
import type { ReviewVerdict } from '../../domain/outcome/review-verdict.ts';
import { contradictionInStated } from '../../domain/outcome/stated.ts';
import type { SkillOutcome } from '../../domain/skill/manifest.ts';
import type { SkillPackage } from '../../domain/skill/package.ts';

/** Facts that the run knows, so that a skill cannot state them. */
export interface KnownFacts {
  headSha: string;
  round: number;
  skill: string;
  step: string;
  /** A hash of the package and its inputs. */
  inputsHash: string;
  /** The JSON Schema of its package's own kind of outcome. */
  ownSchema: SkillPackage['outcomeSchema'];
  /** Notes to add to a gate's verdict. */
  notes?: readonly string[];
}

/**
 * Turns the result of an artifact into the outcome that its package declares, or returns why that fails.
 * Facts that the run knows replace those in the value. A contradictory value is no verdict (I5): accepting
 * its positive half would be a guess.
 */
export function outcomeOf(
  value: Json,
  kind: SkillOutcome,
  known: KnownFacts,
): { outcome: Outcome } | { because: string } {
  if (!isMapping(value)) return { because: `what it gave back is no ${kind}: it is not an object` };
  const { content_hash, ...given } = value;
  if (given.outcome_kind !== undefined && given.outcome_kind !== kind) {
    return { because: `it gave back a ${short(given.outcome_kind)}, and the skill's outcome is a ${kind}` };
  }
  const full = { ...completed(given, kind, known), outcome_kind: kind };
  try {
    // The cast is safe because the schema validates the value.
    const outcome = makeOutcome(full as unknown as Parameters<typeof makeOutcome>[0]);
    const because = contradictionIn(outcome, known);
    return because === undefined ? { outcome } : { because: `its ${kind} contradicts itself: ${because}` };
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    return { because: `what it gave back is no ${kind}: ${firstIssue(error)}` };
  }
}

function completed(given: { [key: string]: Json }, kind: SkillOutcome, known: KnownFacts) {
  switch (kind) {
    case 'review_verdict': {
      // Only people accept findings, by a command, and only from that something is learned.
      const { accepted: _, learned: __, ...stated } = given;
      return { left_out: [], analyzers: [], ...stated, head_sha: known.headSha, round: known.round };
    }
    case 'gate_verdict':
      return {
        feedback: given.summary,
        blocking_reason: given.gate_passed === true ? null : given.summary,
        next_action: null,
        ...given,
        notes:
          Array.isArray(given.notes) || given.notes === undefined
            ? [...(given.notes ?? []), ...(known.notes ?? [])]
            : given.notes,
        criteria: criteriaOf(given.criteria),
        // No gate in a chain can have this name, so it is never mistaken for one.
        gate: `skill ${known.skill}`,
        scope: 'step',
        step: known.step,
        at: 'post',
        on_failure: 'block',
        inputs_hash: known.inputsHash,
      };
    default:
      return given;
  }
}

/** A skill is not asked again about the same head, so none of its criteria can change. */
function criteriaOf(criteria: Json | undefined): Json {
  if (!Array.isArray(criteria)) return criteria ?? [];
  return criteria.map((one) => (isMapping(one) ? { ...one, may_change: false } : one));
}

function contradictionIn(outcome: Outcome, { ownSchema }: KnownFacts): string | undefined {
  switch (outcome.outcome_kind) {
    case 'review_verdict':
      return inReview(outcome);
    case 'gate_verdict':
      return inGate(outcome);
    case 'ci_result':
    case 'action_result':
      return 'a skill cannot state it';
    case 'lint_result':
    case 'test_result':
    case 'research_analysis':
    case 'impact_report':
    case 'flow_plan':
    case 'show_plan':
    case 'flow_control_verdict':
      return contradictionInStated(outcome);
    default:
      return ownSchema === null
        ? 'its package has no schema for it'
        : schemaMismatch(ownSchema, outcome.data);
  }
}

function inReview({ verdict, passed, findings }: ReviewVerdict): string | undefined {
  const approves = verdict === null ? null : verdict === 'APPROVE' || verdict === 'APPROVE_WITH_SUGGESTIONS';
  if (passed !== approves) return `the verdict is ${verdict ?? 'missing'}, and passed is ${passed}`;
  return approves && findings.some(isBlocking)
    ? 'it approves in spite of a critical or high finding'
    : undefined;
}

function inGate({ passed, gate_passed, criteria, blocking_reason }: GateVerdict): string | undefined {
  if (passed !== gate_passed) return `gate_passed is ${gate_passed}, and passed is ${passed}`;
  if (!gate_passed) return undefined;
  if (blocking_reason !== null) return 'the gate passed, and there is a reason why it is blocked';
  const unmet = criteria.find((criterion) => !criterion.passed);
  return unmet ? `the gate passed, and its criterion ${short(unmet.id)} did not` : undefined;
}

function firstIssue(error: z.ZodError): string {
  const [issue] = error.issues;
  const path = issue?.path.map(String).join('.') ?? '';
  const message = issue?.message ?? messageOf(error);
  return short(path === '' ? message : `${path}: ${message}`, 300);
}

function short(value: Json, length = 60): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > length ? `${text.slice(0, length)}…` : text;
}
