import { CountersignError } from '../../core/errors.ts';
import { contractSchema, type Expected } from '../../domain/artifact/contract.ts';
import type { Step } from '../../domain/chain/chain.ts';
import { reason } from '../../domain/explanation/reason.ts';
import type { Slot } from '../../domain/expression/state-slot.ts';
import type { Capability } from '../../domain/policy/capability.ts';
import { builtInPolicy, type PolicyEngine } from '../../domain/policy/engine.ts';
import type { MergeDecision } from '../../domain/policy/merge-gate.ts';
import { ghComment } from '../actions/gh-comment.ts';
import { ghLabel } from '../actions/gh-label.ts';
import { ghMerge } from '../actions/gh-merge.ts';
import { pollApproval } from '../approvals/approval.ts';
import { allowed, needsApproval, refusedAfterAll } from '../gates/allowed.ts';
import { validated } from '../gates/validated.ts';
import type { StepContext, StepHandler } from '../steps/step.ts';
import { gated } from './gated.ts';

export interface Registry {
  readonly skills: string[];
  readonly actions: string[];
  /** @throws CountersignError when nothing has that name. */
  handlerOf(step: Step): StepHandler;
  /** What the merge gate says of a merge step at this moment; `undefined` when nobody was asked yet. */
  judgeMerge(context: StepContext): Promise<MergeDecision | 'busy' | undefined>;
  /** What the step's skill or action usually leaves behind; nothing when nothing has that name. */
  artifactDefaultsOf(step: Step): readonly Expected[];
  /** The slots of the run's working memory that the step's skill or action fills. */
  producesOf(step: Step): readonly Slot[];
  /**
   * What it takes to do the step, and whether it asks before.
   * @throws CountersignError when nothing has that name.
   */
  useOf(step: Step): { capability: Capability; needsApproval: boolean };
}

/**
 * The actions that ship, the skills given, and what carries out every step that names a skill package.
 * @throws ZodError when a skill's artifact defaults are no sound contract: that is its maker's mistake.
 */
export function createRegistry(
  skillHandlers: readonly StepHandler[],
  policy: PolicyEngine = builtInPolicy,
  ofPackage?: (step: Step) => StepHandler,
): Registry {
  for (const { artifactDefaults = [] } of skillHandlers) contractSchema.parse({ expected: artifactDefaults });
  const skills = new Map(skillHandlers.map((handler) => [handler.name, handler]));
  /** A gate asks a skill, and reading an outcome again does, under the same policy as a step would. */
  const asked = (name: string) => {
    const handler = skills.get(name);
    return handler && allowed({ requiresApproval: false }, handler, policy);
  };
  const merge = ghMerge(asked, policy);
  const actions = new Map([merge, ghComment, ghLabel].map((handler) => [handler.name, handler]));

  /** Any other step that wants approval is asked for in the same way as a merge, before it does anything. */
  const afterApproval = (handler: StepHandler): StepHandler => ({
    ...handler,
    async run(context) {
      const answer = await pollApproval(context, asked);
      if (answer.kind === 'not_yet') return answer.result;
      if (answer.kind === 'already_merged') {
        const because = 'the pull request is merged already, so nobody can countersign this step';
        return { kind: 'failed', reason: reason('step.failed.error', because), retryable: false };
      }
      const refused = refusedAfterAll(context, handler.capability, policy, answer);
      if (refused) return refused;
      const result = await handler.run(context);
      return { ...result, approval: answer.approval };
    },
  });

  /** What is built in comes first, so that no package takes its place. */
  const named = (step: Step) => {
    const { uses } = step;
    if (uses.kind === 'action') return actions.get(uses.name);
    return skills.get(uses.name) ?? (uses.package || uses.candidates ? ofPackage?.(step) : undefined);
  };
  const found = (step: Step): StepHandler => {
    const handler = named(step);
    if (handler) return handler;
    throw new CountersignError('step.unknown', `there is no ${step.uses.kind} named ${step.uses.name}`);
  };

  return {
    skills: [...skills.keys()].sort(),
    actions: [...actions.keys()].sort(),
    useOf(step) {
      const { capability } = found(step);
      return { capability, needsApproval: needsApproval(step, capability) };
    },
    judgeMerge: (context) => merge.judge(context),
    artifactDefaultsOf: (step) => named(step)?.artifactDefaults ?? [],
    producesOf: (step) => named(step)?.cognitiveHints?.produces ?? [],
    handlerOf(step) {
      const handler = found(step);
      const asking = handler === merge ? merge : afterApproval(handler);
      const first = needsApproval(step, handler.capability) ? asking : handler;
      // Nobody is asked about a step whose inputs are wrong, that may not be done or whose gates are closed: those come before.
      return validated(step, allowed(step, gated(first, asking, asked), policy));
    },
  };
}
