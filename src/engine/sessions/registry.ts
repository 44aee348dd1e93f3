import type { z } from 'zod';
import { CountersignError } from '../../core/errors.ts';
import { contractSchema, type Expected } from '../../domain/artifact/contract.ts';
import type { Step } from '../../domain/chain/chain.ts';
import type { Slot } from '../../domain/expression/state-slot.ts';
import type { GateScope } from '../../domain/gate/placed.ts';
import type { OutcomeKind } from '../../domain/outcome/outcome.ts';
import type { Capability } from '../../domain/policy/capability.ts';
import { builtInPolicy, type PolicyEngine } from '../../domain/policy/engine.ts';
import type { MergeDecision } from '../../domain/policy/merge-gate.ts';
import { needsApproval } from '../../domain/policy/permission.ts';
import type { AnsweredAction, PlainAction } from '../actions/action.ts';
import { ACTIONS } from '../actions/actions.ts';
import type { AnsweredHandler, ApprovalContext } from '../approvals/approval-context.ts';
import { permitted } from '../gates/permission.ts';
import type { StepHandler } from '../steps/step.ts';
import { type Attempt, attemptStep, judgeMergeStep, type StepParts } from './pipeline.ts';

export interface Registry {
  readonly skills: string[];
  readonly actions: string[];
  /** The `with:` of an action or built-in skill; `undefined` if there is none of that name. */
  inputOf(uses: Pick<Step['uses'], 'kind' | 'name'>): z.ZodObject | undefined;
  /** The kind of outcome of each skill that declares one. */
  readonly outcomes: Readonly<Record<string, OutcomeKind>>;
  /** @throws CountersignError if there is no such skill or action */
  handlerOf(step: Step): StepHandler | AnsweredHandler;
  /** One attempt at the step, through all checks. */
  attempt(context: ApprovalContext): Promise<Attempt>;
  /** The merge gate's current decision for a merge step; `undefined` if nobody was asked yet. */
  judgeMerge(context: ApprovalContext): Promise<MergeDecision | 'busy' | undefined>;
  /** The artifacts that the step's skill or action produces by default; none if it does not exist. */
  artifactDefaultsOf(step: Step): readonly Expected[];
  /** Whether the step's skill works for long. */
  isReview(step: Step): boolean;
  /** The slots of the run's working memory that the step's skill or action fills. */
  producesOf(step: Step): readonly Slot[];
  /**
   * What the step requires, and whether it asks for approval first.
   * @throws CountersignError if there is no such skill or action
   */
  useOf(step: Step): { capability: Capability; needsApproval: boolean };
}

/** For tests of chains. */
export interface RegistryOverrides {
  /** The handler of a step instead of its skill's or action's own. */
  replaced?: (step: Step, handler: StepHandler) => StepHandler;
}

/**
 * The shipped actions, the given skills, and the handler of steps that name a skill package.
 * @throws ZodError if a skill's artifact defaults are no valid contract, which is a bug of the skill
 */
export function createRegistry(
  skillHandlers: readonly StepHandler[],
  policy: PolicyEngine = builtInPolicy,
  ofPackage?: (step: Step) => StepHandler,
  { replaced = (_, handler) => handler }: RegistryOverrides = {},
): Registry {
  for (const { artifactDefaults = [] } of skillHandlers) contractSchema.parse({ expected: artifactDefaults });
  const skills = new Map(skillHandlers.map((handler) => [handler.name, handler]));
  const actions = new Map<string, PlainAction | AnsweredAction>(Object.entries(ACTIONS));
  /** For gates, and for reading an outcome again: the policy decides as it does for a step. */
  const skillOf = (name: string) => {
    const handler = skills.get(name);
    return handler && permitted(handler, policy);
  };

  /** Built-in skills come first, so that no package can replace them. */
  const named = (step: Step) => {
    const { uses } = step;
    if (uses.kind === 'action') return actions.get(uses.name);
    const builtIn = skills.get(uses.name);
    if (builtIn) return (step.requiresApproval ? builtIn.countersigned : undefined) ?? builtIn;
    return uses.package || uses.candidates ? ofPackage?.(step) : undefined;
  };
  const found = (step: Step): StepHandler | AnsweredHandler => {
    const handler = named(step);
    if (handler) return 'run' in handler ? replaced(step, handler) : handler;
    throw new CountersignError('step.unknown', `there is no ${step.uses.kind} named ${step.uses.name}`);
  };
  /** Not a built-in skill: those come first. */
  const ofGate = (step: Step, name: string, scope: GateScope) => {
    const reference = step.gatePackages?.find((one) => one.name === name && one.scope === scope);
    if (!reference) return undefined;
    const { name: _, scope: __, ...package_ } = reference;
    const handler = ofPackage?.({ ...step, uses: { kind: 'skill', name, package: package_ } });
    return handler && permitted(handler, policy);
  };
  const partsOf = ({ step }: ApprovalContext): StepParts => ({
    handler: found(step),
    policy,
    skillOf: (name, scope) => skillOf(name) ?? (scope && ofGate(step, name, scope)),
  });

  return {
    skills: [...skills.keys()].sort(),
    actions: [...actions.keys()].sort(),
    inputOf: ({ kind, name }) => (kind === 'action' ? actions.get(name)?.input : skills.get(name)?.inputs),
    outcomes: Object.fromEntries(skillHandlers.flatMap(outcomeOfHandler)),
    useOf(step) {
      const { capability } = found(step);
      return { capability, needsApproval: needsApproval(step, capability) };
    },
    handlerOf: found,
    attempt: async (context) => attemptStep(partsOf(context), context),
    judgeMerge: async (context) => judgeMergeStep(partsOf(context), context),
    artifactDefaultsOf: (step) => named(step)?.artifactDefaults ?? [],
    isReview: (step) => {
      const handler = named(step);
      return handler !== undefined && 'isReview' in handler && handler.isReview === true;
    },
    producesOf: (step) => named(step)?.cognitiveHints?.produces ?? [],
  };
}

function outcomeOfHandler({ name, artifactDefaults = [] }: StepHandler): [string, OutcomeKind][] {
  const [outcome] = artifactDefaults.flatMap((entry) => (entry.kind === 'outcome' ? entry.outcome : []));
  return outcome === undefined ? [] : [[name, outcome]];
}
