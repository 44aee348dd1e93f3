import { makeOutcome, type Outcome } from '../../../domain/outcome/outcome.ts';
import { CAPABILITIES, KIND_CAPABILITIES } from '../../../domain/policy/capability.ts';
import type { PolicyEngine } from '../../../domain/policy/engine.ts';
import { notPermitted } from '../../../engine/gates/permission.ts';
import type { StepContext, StepHandler, StepResult } from '../../../engine/steps/step.ts';
import { NO_CODEX, REVIEWED_BY_CODEX, reviewedWithoutCodex } from '../../../messages/skills/codex-review.ts';
import { readInputs, writtenInputs } from '../../runtime/inputs.ts';
import { inputsSchema } from './pr-review.ts';

/** The agent of the shipped package `codex-pr-review`. */
export interface CodexReview {
  /** Why it cannot review anything here, as a clause; `undefined` if it can. */
  unusable(): Promise<string | undefined>;
  run(context: StepContext): Promise<StepResult>;
  policy: PolicyEngine;
}

const { 'codex-pr-review': REVIEW } = CAPABILITIES;
const AGENT = { ...REVIEW, ...KIND_CAPABILITIES.agent };

/**
 * Codex where it is turned on and the run may use it, otherwise the built-in review. Every run may have a
 * review, so missing trust does not fail the step. If Codex was started and failed, the step fails (I5).
 * @param codex absent where no agent can be turned on, as on the command line
 */
export function codexPrReview(builtIn: StepHandler, codex: CodexReview | undefined): StepHandler {
  const own = async (context: StepContext, because: string) =>
    withNote(await builtIn.run(context), reviewedWithoutCodex(because));
  /** @param asks whether a countersign for this head came before */
  const review = async (context: StepContext, asks: boolean): Promise<StepResult> => {
    const asked = readInputs(inputsSchema, context);
    if (!asked.ok) return asked.result;
    if (!asked.value.model) return own(context, NO_CODEX.notWanted);
    if (!codex) return own(context, NO_CODEX.notHere);
    const unusable = await codex.unusable();
    if (unusable !== undefined) return own(context, unusable);
    const refusal = await notPermitted(context, AGENT, codex.policy, asks);
    if (refusal?.kind === 'superseded') return refusal;
    if (refusal) return own(context, refusal.reason.summary);
    return withNote(await codex.run(context), REVIEWED_BY_CODEX);
  };
  const handler: StepHandler = {
    name: REVIEW.name,
    inputs: writtenInputs(inputsSchema),
    capability: REVIEW,
    isReview: true,
    artifactDefaults: [
      { kind: 'outcome', id: 'verdict', outcome: 'review_verdict', required: true, source: 'skill' },
    ],
    ...(builtIn.cognitiveHints && { cognitiveHints: builtIn.cognitiveHints }),
    run: (context) => review(context, false),
  };
  // The higher need lets the policy judge the countersign, which gives a fork's head to Codex.
  return codex
    ? {
        ...handler,
        countersigned: { ...handler, capability: AGENT, run: (context) => review(context, true) },
      }
    : handler;
}

function withNote(result: StepResult, note: string): StepResult {
  return result.kind === 'done' ? { ...result, outcome: noted(result.outcome, note) } : result;
}

function noted(outcome: Outcome, note: string): Outcome {
  if (outcome.outcome_kind !== 'review_verdict') return outcome;
  const { content_hash: _, ...rest } = outcome;
  return makeOutcome<'review_verdict'>({ ...rest, notes: [note, ...(rest.notes ?? [])] });
}
