import type { Candidate } from '../../../domain/chain/chain.ts';
import { reason } from '../../../domain/explanation/reason.ts';
import type { PolicyEngine } from '../../../domain/policy/engine.ts';
import { isTrusted, LEAST_TRUST, type Trust, trustOf } from '../../../domain/policy/trust.ts';
import type { SkillChoice } from '../../../domain/skill/decision.ts';
import { permitted } from '../../../engine/gates/permission.ts';
import { readTrustContext } from '../../../engine/gates/trust-facts.ts';
import { filesOfHead } from '../../../engine/steps/head-files.ts';
import type { StepContext, StepHandler, StepResult } from '../../../engine/steps/step.ts';
import { noLongerThere } from '../../../messages/skills/activation.ts';
import { capabilityOf, type RunPackage } from '../../runtime/activate.ts';
import { purposeOf } from '../../runtime/purpose.ts';
import type { Owner } from '../../runtime/skill-context.ts';
import { storedPurpose } from '../../runtime/trace/watch-model.ts';
import type { Select, Selected } from './select.ts';

/** Chooses a skill and executes it, for open steps and for questions in comments. */
export interface Activation {
  /** Chooses among the candidates that this run may use. */
  choose(
    context: StepContext,
    asked: { text: string; candidates: readonly Candidate[]; mayAnswer: boolean; owner: Owner },
  ): Promise<Selected>;
  /** Executes the chosen skill. Checks again what the run may do now. */
  executeArtifact(
    context: StepContext,
    chosen: { choice: SkillChoice; candidates: readonly Candidate[]; owner: Owner },
  ): Promise<StepResult>;
}

export function createActivation(deps: {
  select: Select;
  runPackage: RunPackage;
  policy: PolicyEngine;
}): Activation {
  const { select, runPackage, policy } = deps;

  return {
    async choose(context, { text, candidates, mayAnswer, owner }) {
      const { run } = context.state;
      const trust = await trustFor(context, candidates);
      const gates = run.settings.gates ?? [];
      const permittedCandidates = candidates.filter((candidate) => {
        // Excluded if the settings put gates on its use: the step's gates were fixed before the skill was
        // chosen, so nothing would evaluate them.
        if (gates.some(({ uses }) => uses === candidate.name)) return false;
        const capability = capabilityOf(candidate.name, candidate);
        return (
          policy.decide({ capability, needsApproval: false, trust, chain: run.chain }).verdict === 'allowed'
        );
      });
      const paths =
        run.pullRequest === null ? [] : (await filesOfHead(context)).files.map(({ path }) => path);
      return select({
        question: { text, paths },
        ids: permittedCandidates.map(({ id }) => id),
        mayAnswer,
        purpose: storedPurpose(owner, purposeOf(context)),
        signal: context.signal,
      });
    },

    async executeArtifact(context, { choice, candidates, owner }) {
      const found = candidates.find(({ id }) => id === choice.id);
      if (!found) {
        return {
          kind: 'failed',
          reason: reason('step.failed.error', noLongerThere(choice.skill)),
          retryable: false,
        };
      }
      const { name, id, uses } = found;
      const call = { name, id, uses, artifact: choice.artifact, owner, contract: 'package' } as const;
      const handler: StepHandler = {
        name,
        capability: capabilityOf(name, found),
        run: (step) => runPackage(call, step),
      };
      // A countersign approved the step, not a skill that was unknown then, so it does not raise the trust
      // here.
      return permitted(handler, policy).run(context);
    },
  };
}

/** Read from GitHub only if a skill needs more than the lowest trust. */
async function trustFor(context: StepContext, candidates: readonly Candidate[]): Promise<Trust> {
  const { reader, repo, state } = context;
  const isEnough = candidates.every(({ trust }) => isTrusted(LEAST_TRUST.level, trust));
  return isEnough ? LEAST_TRUST : trustOf(await readTrustContext(reader, repo, state.run));
}
