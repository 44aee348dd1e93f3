import { z } from 'zod';
import { expectedSchema } from '../../domain/artifact/contract.ts';
import { DELIVERIES } from '../../domain/artifact/delivery.ts';
import { verificationSchema } from '../../domain/artifact/verification.ts';
import { type Effect, type EffectRow, withheldOf } from '../../domain/effect/effect.ts';
import { evidenceRefSchema } from '../../domain/explanation/evidence.ts';
import { CRITERION_STATUSES, type Explanation, labelOf } from '../../domain/explanation/explanation.ts';
import { type Reason, reasonSchema } from '../../domain/explanation/reason.ts';
import { gateVerdictSchema } from '../../domain/outcome/gate-verdict.ts';
import { outcomeSchema } from '../../domain/outcome/outcome.ts';
import { levelOf, ROLLOUT_LEVELS } from '../../domain/policy/rollout.ts';
import { RUN_STATUSES, type Run, type RunState, STEP_STATUSES } from '../../domain/run/run.ts';
import { skillChoiceSchema } from '../../domain/skill/decision.ts';
import { delivery } from '../run/artifacts.ts';
import { evidenceUrl, type Pages } from '../run/evidence.ts';

/**
 * The JSON output of the command line (`--json`) and the API. Scripts rely on its shapes. They are spelled
 * out here, separate from the rows behind them, so that a changed column does not change them by accident.
 */
const reasonJsonSchema = reasonSchema.extend({
  evidence: z.array(
    z.strictObject({
      ...evidenceRefSchema.shape,
      /** Its page; `null` if it has none. */
      url: z.string().nullable(),
    }),
  ),
});
type ReasonJson = z.infer<typeof reasonJsonSchema>;

function reasonJson(reason: Reason | null, run: Run, pages: Pages): ReasonJson | null {
  if (reason === null) return null;
  const evidence = reason.evidence.map((ref) => ({ ...ref, url: evidenceUrl(ref, run, pages) }));
  return { ...reason, evidence };
}

export const runJsonSchema = z.strictObject({
  id: z.string(),
  chain: z.string(),
  status: z.enum(RUN_STATUSES),
  reason: reasonJsonSchema.nullable(),
  /** `owner/name`. */
  repository: z.string(),
  pull_request: z.int().nullable(),
  head_sha: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  /** The rollout when it began. */
  rollout: z.enum(ROLLOUT_LEVELS),
  /**
   * How much of what its steps must produce is there; `null` if nothing was required, or nothing has been
   * checked yet.
   */
  delivery: z.enum(DELIVERIES).nullable(),
  steps: z.array(
    z.strictObject({
      /** The step's id in the chain. */
      id: z.string(),
      index: z.int().min(0),
      status: z.enum(STEP_STATUSES),
      reason: reasonJsonSchema.nullable(),
      outcome: outcomeSchema.nullable(),
      /** The skill that was chosen for it; `null` if its chain names one, or none has been chosen yet. */
      choice: skillChoiceSchema.omit({ kind: true }).nullable(),
      /** The artifacts that the step must produce. */
      expected_artifacts: z.array(expectedSchema),
      artifact_verification: verificationSchema.nullable(),
      /** The newest verdict of each of its gates. */
      gates: z.array(gateVerdictSchema),
    }),
  ),
});
export type RunJson = z.infer<typeof runJsonSchema>;

/** A run with what the rollout withheld of it. */
export const runWithWritesSchema = runJsonSchema.extend({
  /** The effects that were not written, in the words of a dry run; empty with `rollout: enforce`. */
  would_write: z.array(z.looseObject({ kind: z.string() })),
});

/** What would be written, for scripts: the effect without the installation, which is the app's own. */
export function effectJson({ installation_id: _, ...effect }: Effect): Omit<Effect, 'installation_id'> {
  return effect;
}

/** @param effects of the run */
export function wouldWriteJson(
  effects: readonly EffectRow[],
): z.infer<typeof runWithWritesSchema>['would_write'] {
  return withheldOf(effects).map(effectJson);
}

/** A run in a list. */
export const runSummarySchema = runJsonSchema.omit({ steps: true, delivery: true, reason: true });

export function runSummaryJson(run: Run): z.infer<typeof runSummarySchema> {
  return {
    id: run.id,
    chain: run.chain,
    status: run.status,
    repository: run.repository,
    pull_request: run.pullRequest,
    head_sha: run.headSha,
    created_at: run.createdAt.toISOString(),
    updated_at: run.updatedAt.toISOString(),
    rollout: levelOf(run),
  };
}

/** @param pages the addresses for links to evidence */
export function runJson(state: RunState, pages: Pages): RunJson {
  const { run, invocations, verdicts } = state;
  return {
    id: run.id,
    chain: run.chain,
    status: run.status,
    reason: reasonJson(run.reason, run, pages),
    repository: run.repository,
    pull_request: run.pullRequest,
    head_sha: run.headSha,
    created_at: run.createdAt.toISOString(),
    updated_at: run.updatedAt.toISOString(),
    rollout: levelOf(run),
    delivery: delivery(state) ?? null,
    steps: invocations.map((step) => ({
      id: step.stepId,
      index: step.stepIndex,
      status: step.status,
      reason: reasonJson(step.reason, run, pages),
      outcome: step.outcome,
      choice: choiceJson(step),
      expected_artifacts: run.definition.steps[step.stepIndex]?.artifacts?.expected ?? [],
      artifact_verification: step.verification,
      gates: (verdicts ?? []).filter((verdict) => verdict.step === step.stepId),
    })),
  };
}

function choiceJson({ choice }: RunState['invocations'][number]): RunJson['steps'][number]['choice'] {
  if (!choice) return null;
  const { skill, id, artifact, by, because } = choice;
  return { skill, id, artifact, by, because };
}

export interface WhyJson {
  status: Explanation['status'];
  summary: string;
  evidence: string[];
  reasons: WhyJson[];
}

export const whyJsonSchema: z.ZodType<WhyJson> = z.lazy(() =>
  z.strictObject({
    status: z.enum(CRITERION_STATUSES),
    summary: z.string(),
    /** The labels. */
    evidence: z.array(z.string()),
    reasons: z.array(whyJsonSchema),
  }),
);

export function whyJson(why: Explanation): WhyJson {
  return {
    status: why.status,
    summary: why.summary,
    evidence: why.evidence.map(labelOf),
    reasons: why.reasons.map(whyJson),
  };
}
