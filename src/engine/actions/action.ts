import type { z } from 'zod';
import type { Effect, EffectRow } from '../../domain/effect/effect.ts';
import { reason } from '../../domain/explanation/reason.ts';
import type { ActionResult } from '../../domain/outcome/action-result.ts';
import { makeOutcome } from '../../domain/outcome/outcome.ts';
import { type ActionName, CAPABILITIES } from '../../domain/policy/capability.ts';
import { levelOf, mayWrite } from '../../domain/policy/rollout.ts';
import { wouldWrite } from '../../messages/run/rollout.ts';
import { whatIsWritten } from '../../messages/run/what-is-written.ts';
import type { AnsweredHandler } from '../approvals/approval-context.ts';
import type { Blob, StepContext, StepHandler, StepResult } from '../steps/step.ts';
import { withheldStep } from '../steps/withheld.ts';
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
export type PlainAction = StepHandler & ActionParts & { readonly waits: boolean };

/** An action that handles the answer to its approval itself. */
export type AnsweredAction = AnsweredHandler & ActionParts;

/** What an action decides: the effects it requests, or why it cannot. */
export type Plan =
  | {
      kind: 'does';
      /** What was done. It is stored together with the desired effects, shortly before GitHub has them. */
      summary: string;
      /** False if something could not be done; true if left out. */
      passed?: boolean;
      details: ActionResult['details'];
      effects: { key: string; effect: Effect }[];
      blobs?: Blob[];
    }
  | Extract<StepResult, { kind: 'failed' | 'waits' | 'superseded' | 'withheld' }>;

interface PlainActionParts<Input extends z.ZodObject> extends ActionParts {
  readonly name: ActionName;
  readonly input: Input;
  /** Reads what it needs and decides. It writes nothing: a dry run shows the effects that it returns. */
  readonly plan: (context: StepContext, input: z.infer<Input>) => Promise<Plan> | Plan;
  /**
   * For an action whose outcome depends on what GitHub answers: the step waits until its effects are executed or refused,
   * and this says what came of them. The keys of the effects begin with the key of the step, `keyOf`.
   */
  readonly finish?: (
    context: StepContext,
    effects: readonly EffectRow[],
    input: z.infer<Input>,
  ) => Promise<Plan> | Plan;
}

/** The key of a step's effect, or the beginning of the keys of several. */
export function keyOf(kind: string, { state, step }: Pick<StepContext, 'state' | 'step'>): string {
  return `${kind}:${state.run.id}:${step.id}`;
}

/** Builds the handler of an action from its parts. */
export function plainAction<Input extends z.ZodObject>(parts: PlainActionParts<Input>): PlainAction {
  const { name, about, permissions, input, once } = parts;

  async function decide(context: StepContext, value: z.infer<Input>): Promise<Plan> {
    const { finish } = parts;
    if (!finish) return parts.plan(context, value);
    if (waitsForWrite(context)) {
      const requested = await context.requested(keyOf(effectKindOf(name), context));
      // What one transaction stored comes in any order.
      const effects = requested.toSorted((a, b) => (a.key < b.key ? -1 : 1));
      if (effects.some(({ status }) => status === 'withheld')) return withheld(context, name, effects);
      return effects.every(({ status }) => status !== 'pending')
        ? finish(context, effects, value)
        : waitForWrite(context, name);
    }
    const plan = await parts.plan(context, value);
    if (plan.kind !== 'does' || plan.effects.length === 0) return plan;
    if (plan.effects.some(({ effect }) => !mayWrite(levelOf(context.state.run), effect.kind)))
      return { ...withheld(context, name, plan.effects), desiredEffects: plan.effects };
    return { ...waitForWrite(context, name), desiredEffects: plan.effects };
  }

  return {
    name,
    about,
    permissions,
    input,
    once,
    waits: parts.finish !== undefined,
    capability: CAPABILITIES[name],
    async run(context) {
      const read = readInputs(input, context);
      if ('problem' in read) return invalidInput(name, read.problem);
      const plan = await decide(context, read.value);
      if (plan.kind !== 'does') return plan;
      return {
        kind: 'done',
        outcome: makeOutcome<'action_result'>({
          outcome_kind: 'action_result',
          summary: plan.summary,
          passed: plan.passed ?? true,
          action: name,
          details: plan.details,
        }),
        desiredEffects: plan.effects,
        ...(plan.blobs && { blobs: plan.blobs }),
      };
    },
  };
}

/** `gh-update-branch` requests effects of the kind `update_branch`. */
function effectKindOf(name: ActionName): string {
  return name.replace(/^gh-/, '').replaceAll('-', '_');
}

const WAITING: readonly (string | undefined)[] = ['step.waiting.write', 'step.waiting.workflow'];

/** A step that begins, also again, has another reason or none. */
function waitsForWrite({ invocation: { status, reason } }: StepContext): boolean {
  return status === 'waiting_until' && WAITING.includes(reason?.code);
}

/** A write takes moments unless GitHub is down, in milliseconds. Asking costs a read of the database. */
const SOONEST_MS = 1_000;
const LATEST_MS = 60_000;

function waitForWrite({ clock, session }: StepContext, name: string): Extract<StepResult, { kind: 'waits' }> {
  const now = clock.now().getTime();
  const pauseMs = Math.min(Math.max(now - session.startedAt.getTime(), SOONEST_MS), LATEST_MS);
  return {
    kind: 'waits',
    for: 'until',
    until: new Date(now + pauseMs),
    reason: reason('step.waiting.write', `${name} waits until GitHub has done it`),
  };
}

/** What GitHub would make of the write is not known, so nothing that depends on it runs. */
function withheld(
  context: StepContext,
  name: string,
  effects: readonly { effect: Effect }[],
): Extract<StepResult, { kind: 'withheld' }> {
  const what = effects.map(({ effect }) => whatIsWritten(effect).head);
  return withheldStep(context, { level: levelOf(context.state.run) }, wouldWrite(name, what), {
    would: 'write',
  });
}

/** How a step ends whose only effect GitHub has refused; `undefined` if it was executed. */
export function failedWrite(
  name: string,
  row: EffectRow | undefined,
): Extract<StepResult, { kind: 'failed' }> | undefined {
  if (row?.status === 'done') return undefined;
  return {
    kind: 'failed',
    reason: reason('step.failed.error', `${name} failed: ${row?.error ?? 'its effect is gone'}`),
    retryable: true,
  };
}
