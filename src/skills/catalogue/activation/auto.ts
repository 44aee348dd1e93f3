import { AUTO_SKILL, type Candidate, type Step } from '../../../domain/chain/chain.ts';
import { reason } from '../../../domain/explanation/reason.ts';
import { LEAST_TRUST } from '../../../domain/policy/trust.ts';
import type { SkillChoice } from '../../../domain/skill/decision.ts';
import type { StepContext, StepHandler, StepResult } from '../../../engine/steps/step.ts';
import { noneChosen } from '../../../messages/skills/activation.ts';
import type { Storage } from '../../../ports/storage.ts';
import { ownerOf } from '../../runtime/activate.ts';
import type { Activation } from './activation.ts';

/**
 * Steps that leave their skill open. The candidates were fixed when the run began. Each session chooses once
 * and stores the choice before acting on it, so that a restart or a recheck continues with the same skill.
 */
export function autoSkill(deps: {
  storage: Pick<Storage, 'transaction'>;
  activation: Activation;
}): (step: Step) => StepHandler {
  const { storage, activation } = deps;

  return ({ uses: { candidates = [] } }) => ({
    name: AUTO_SKILL,
    capability: {
      name: AUTO_SKILL,
      minimumTrust: LEAST_TRUST.level,
      sideEffects: false,
      confirmation: 'none',
    },
    isReview: true,
    async run(context) {
      const choice = context.session.choice ?? (await choose(context, candidates));
      if (choice.kind === 'failed') return choice;
      return activation.executeArtifact(context, { choice, candidates, owner: ownerOf(context) });
    },
  });

  async function choose(
    context: StepContext,
    candidates: readonly Candidate[],
  ): Promise<SkillChoice | Extract<StepResult, { kind: 'failed' }>> {
    const text = questionOf(context);
    const selected = await activation.choose(context, {
      text,
      candidates,
      mayAnswer: false,
      owner: ownerOf(context),
    });
    if (selected.kind === 'failed') return failed(selected.because, selected.retryable);
    const { decision } = selected;
    if (decision.kind !== 'skill') return failed(decision.text, false);
    await storage.transaction((tx) => tx.runs.chooseSkill(context.session.id, decision));
    return decision;
  }
}

/** The step's question, or its name if it has none. */
function questionOf({ inputs, step }: StepContext): string {
  return typeof inputs.question === 'string' && inputs.question.trim() !== '' ? inputs.question : step.id;
}

function failed(because: string, retryable: boolean): Extract<StepResult, { kind: 'failed' }> {
  return { kind: 'failed', reason: reason('step.failed.error', noneChosen(because)), retryable };
}
