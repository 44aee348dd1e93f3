import type { z } from 'zod';
import type { Effect } from '../../domain/effect/effect.ts';
import type { ActionResult } from '../../domain/outcome/action-result.ts';
import { makeOutcome } from '../../domain/outcome/outcome.ts';
import { type ActionName, CAPABILITIES } from '../../domain/policy/capability.ts';
import type { AnsweredHandler } from '../approvals/approval-context.ts';
import type { StepContext, StepHandler, StepResult } from '../steps/step.ts';
import { invalidInput, readInputs } from './inputs.ts';

/** What every action has beside its handler. Lint, the JSON Schema of chain files and docs/actions.md are made from it. */
interface ActionParts {
  /** One sentence for docs/actions.md. */
  readonly about: string;
  /** The permissions of the App that it needs. `app.yml` must grant them. */
  readonly permissions: readonly string[];
  /** The `with:` of a step. */
  readonly input: z.ZodObject;
  /** What one row in the outbox stands for, so that nothing is written twice. */
  readonly once: string;
}

/** An action that people's answers do not change. */
export type PlainAction = StepHandler & ActionParts;

/** An action that handles the answer to its approval itself. */
export type AnsweredAction = AnsweredHandler & ActionParts;

/** What an action decides: the effects it requests, or why it cannot. */
type Plan =
  | {
      kind: 'does';
      /** The outcome is stored before GitHub answers, so it says what the action asks for. */
      summary: string;
      details: ActionResult['details'];
      effects: { key: string; effect: Effect }[];
    }
  | Extract<StepResult, { kind: 'failed' | 'waits' }>;

interface PlainActionParts<Input extends z.ZodObject> extends ActionParts {
  readonly name: ActionName;
  readonly input: Input;
  /** Reads what it needs and decides. It writes nothing: a dry run shows the effects that it returns. */
  readonly plan: (context: StepContext, input: z.infer<Input>) => Promise<Plan> | Plan;
}

/** Builds the handler of an action from its parts. */
export function plainAction<Input extends z.ZodObject>(parts: PlainActionParts<Input>): PlainAction {
  const { name, about, permissions, input, once } = parts;
  return {
    name,
    about,
    permissions,
    input,
    once,
    capability: CAPABILITIES[name],
    async run(context) {
      const read = readInputs(input, context);
      if ('problem' in read) return invalidInput(name, read.problem);
      const plan = await parts.plan(context, read.value);
      if (plan.kind !== 'does') return plan;
      return {
        kind: 'done',
        outcome: makeOutcome<'action_result'>({
          outcome_kind: 'action_result',
          summary: plan.summary,
          passed: true,
          action: name,
          details: plan.details,
        }),
        desiredEffects: plan.effects,
      };
    },
  };
}
