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
import { inNameOf } from '../../runtime/trace/watch-model.ts';
import type { Select, Selected } from './select.ts';

/** Choosing among skills and carrying out the chosen one, for steps that leave it open and for questions in comments. */
export interface Activation {
  /** Chooses among the candidates that this run may use. */
  choose(
    context: StepContext,
    asked: { text: string; candidates: readonly Candidate[]; mayAnswer: boolean; owner: Owner },
  ): Promise<Selected>;
  /** Carries the choice out; held, at this look, against what the run may do by then. */
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
      const fitting = candidates.filter((candidate) => {
        // Nobody judges the gates that the settings put on its use: those of the step were placed before it was chosen.
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
        ids: fitting.map(({ id }) => id),
        mayAnswer,
        purpose: inNameOf(owner, purposeOf(context)),
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
      const { name, id } = found;
      const call = { name, id, artifact: choice.artifact, owner, contract: 'package' } as const;
      const handler: StepHandler = {
        name,
        capability: capabilityOf(name, found),
        run: (step) => runPackage(call, step),
      };
      // A countersign approved the step, and no skill that nobody had chosen yet: it raises no trust here.
      return permitted(handler, policy).run(context);
    },
  };
}

/** Read only when a skill asks for more than every run has. */
async function trustFor(context: StepContext, candidates: readonly Candidate[]): Promise<Trust> {
  const { reader, repo, state } = context;
  const isEnough = candidates.every(({ trust }) => isTrusted(LEAST_TRUST.level, trust));
  return isEnough ? LEAST_TRUST : trustOf(await readTrustContext(reader, repo, state.run));
}
