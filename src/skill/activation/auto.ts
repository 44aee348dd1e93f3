import { AUTO_SKILL, type Candidate, type Step } from '../../chain/chain.ts';
import type { PolicyEngine } from '../../policy/engine.ts';
import { isTrusted, LEAST_TRUST, type Trust, trustOf } from '../../policy/trust.ts';
import { reason } from '../../run/reason.ts';
import { allowed } from '../../session/allowed.ts';
import { filesOfHead } from '../../session/head-files.ts';
import type { StepContext, StepHandler, StepResult } from '../../session/step.ts';
import { readTrustContext } from '../../session/trust-facts.ts';
import type { Storage } from '../../storage/storage.ts';
import { noLongerThere, noneChosen } from '../../words/activation.ts';
import type { SkillChoice } from '../package/decision.ts';
import { capabilityOf, ownerOf, type RunPackage } from '../registry/activate.ts';
import type { Select } from './select.ts';

export interface AutoDeps {
  storage: Pick<Storage, 'transaction'>;
  select: Select;
  runPackage: RunPackage;
  policy: PolicyEngine;
}

/**
 * Steps that leave their skill open. Which ones there are was settled when the run began; which one it is, each session chooses once:
 * the choice is kept before anything is done on it, so that a restart, or another look, goes on with the same one.
 */
export function autoSkill({ storage, select, runPackage, policy }: AutoDeps): (step: Step) => StepHandler {
  return ({ uses: { candidates = [] } }) => ({
    name: AUTO_SKILL,
    capability: {
      name: AUTO_SKILL,
      minimumTrust: LEAST_TRUST.level,
      sideEffects: false,
      confirmation: 'none',
    },
    async run(context) {
      const choice = context.session.choice ?? (await choose(context, candidates));
      if (choice.kind === 'failed') return choice;
      const found = candidates.find(({ id }) => id === choice.id);
      if (!found) return failed(noLongerThere(choice.skill), false);
      const { name, id } = found;
      const call = {
        name,
        id,
        artifact: choice.artifact,
        owner: ownerOf(context),
        contract: 'package',
      } as const;
      const handler: StepHandler = {
        name,
        capability: capabilityOf(name, found),
        run: (step) => runPackage(call, step),
      };
      // A countersign approved the step and no skill that nobody had chosen yet: it raises no trust here.
      return allowed({ ...context.step, requiresApproval: false }, handler, policy).run(context);
    },
  });

  async function choose(
    context: StepContext,
    candidates: readonly Candidate[],
  ): Promise<SkillChoice | Extract<StepResult, { kind: 'failed' }>> {
    const { run } = context.state;
    const trust = await trustFor(context, candidates);
    const fitting = candidates.filter((candidate) => {
      const capability = capabilityOf(candidate.name, candidate);
      return policy.decide({ capability, asksFirst: false, trust, chain: run.chain }).verdict === 'allowed';
    });
    const paths = run.pullRequest === null ? [] : (await filesOfHead(context)).files.map(({ path }) => path);
    const selected = await select({
      question: { text: questionOf(context), paths },
      ids: fitting.map(({ id }) => id),
      mayAnswer: false,
      purpose: {
        runId: run.id,
        sessionId: context.session.id,
        repositoryId: run.repositoryId,
        pullRequest: run.pullRequest,
        skill: AUTO_SKILL,
        artifact: null,
      },
      signal: context.signal,
    });
    if (selected.kind === 'failed') return failed(noneChosen(selected.because), selected.retryable);
    const { decision } = selected;
    if (decision.kind !== 'skill') return failed(noneChosen(decision.text), false);
    await storage.transaction((tx) => tx.runs.chooseSkill(context.session.id, decision));
    return decision;
  }
}

/** Read only when a skill asks for more than every run has. */
async function trustFor(context: StepContext, candidates: readonly Candidate[]): Promise<Trust> {
  const { reader, repo, state } = context;
  const isEnough = candidates.every(({ trust }) => isTrusted(LEAST_TRUST.level, trust));
  return isEnough ? LEAST_TRUST : trustOf(await readTrustContext(reader, repo, state.run));
}

/** What the step asks; a step that asks nothing is known by its name. */
function questionOf({ inputs, step }: StepContext): string {
  return typeof inputs.question === 'string' && inputs.question.trim() !== '' ? inputs.question : step.id;
}

function failed(because: string, retryable: boolean): Extract<StepResult, { kind: 'failed' }> {
  return { kind: 'failed', reason: reason('step.failed.error', because), retryable };
}
