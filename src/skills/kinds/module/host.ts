import type { Json } from '../../../core/canonical.ts';
import type { SkillOutcome } from '../../../domain/skill/manifest.ts';
import type { Module } from '../../../domain/skill/module.ts';
import { describeFailure, spentOnModel } from '../../../messages/skills/model.ts';
import { describeModuleFault, type ModuleFault } from '../../../messages/skills/module.ts';
import type { Failure, Model, Purpose } from '../../../ports/model.ts';
import { MAX_RENDERED_BYTES } from '../../templating/render.ts';
import { answer } from '../code/answer.ts';
import { Ledger } from '../code/budget.ts';
import type { CodeHost } from '../code/host.ts';
import { DEFAULT_LIMITS } from '../code/limits.ts';
import type { Fences } from './fences.ts';
import { argumentsOf, limitsOf } from './program.ts';
import { answerTo } from './shape.ts';
import type { Turn, Wanted } from './sidecar/protocol.ts';
import type { Host } from './sidecar.ts';

interface HostDeps {
  model: Model;
  module: Module;
  outcome: SkillOutcome;
  purpose: Purpose;
  fences: Fences;
  /** Absent if there is no head to read, as for examples. */
  tools?: Pick<CodeHost, 'search' | 'file' | 'diff' | 'history'> | undefined;
  /** The total of model calls. */
  mostAsks: number;
  /** In milliseconds, for all of them together. */
  timeoutMs: number;
}

/** The rest is for the engine, so that a slow model is reported as such and not as a hanging process. */
const SHARE_OF_MODEL = 0.9;

export interface Refusal {
  because: string;
  retryable: boolean;
  /** The model's failure, if that was the cause. */
  failure: Failure | null;
}

export interface ModuleHost {
  host: Host;
  /** The usage of each model call, one line each. */
  readonly notes: readonly string[];
  /** Why the last call was refused. It takes precedence over what the sidecar reports after it. */
  readonly refusal: Refusal | undefined;
}

/**
 * What a module's task may use: answers of the model in the module's one schema, charged to the run's
 * budgets, and the tools that the module names. Counted here, whatever the sidecar claims and however often
 * it restarts.
 */
export function moduleHost(deps: HostDeps): ModuleHost {
  const { module, fences, mostAsks } = deps;
  const until = performance.now() + deps.timeoutMs * SHARE_OF_MODEL;
  const ledger = new Ledger(DEFAULT_LIMITS.budgets);
  const notes: string[] = [];
  let asks = 0;
  let refusal: ModuleHost['refusal'];

  const refuse = (given: Refusal) => {
    refusal = given;
    return { because: given.because };
  };
  const refuseFor = (fault: ModuleFault) =>
    refuse({ because: describeModuleFault(fault), retryable: false, failure: null });

  const refuseByModel = (failure: Failure, retryable: boolean) =>
    refuse({ because: describeFailure(failure), retryable, failure });

  const ask = async (turns: readonly Turn[], signal: AbortSignal) => {
    asks += 1;
    if (asks > mostAsks) return refuseFor({ kind: 'too_many_calls', limit: mostAsks });
    const prompt = fences.prompt(turns, MAX_RENDERED_BYTES);
    if (prompt === undefined) return refuseFor({ kind: 'too_long', limit: MAX_RENDERED_BYTES });
    const timeoutMs = Math.floor(until - performance.now());
    if (timeoutMs <= 0) return refuseByModel({ kind: 'timed_out' }, true);
    const given = await deps.model.ask({
      prompt,
      schema: answerTo(module, deps.outcome),
      limits: { maxOutputTokens: limitsOf(module).maxOutputTokens, timeoutMs },
      purpose: deps.purpose,
      signal,
    });
    notes.push(spentOnModel(deps.model.name, given.spent));
    if (given.kind === 'answered') {
      refusal = undefined;
      return { value: given.value };
    }
    return refuseByModel(given.failure, given.retryable);
  };

  const call = async (
    { id, tool, arguments: values }: Extract<Wanted, { kind: 'call' }>,
    signal: AbortSignal,
  ) => {
    const { tools } = deps;
    const known = module.tools?.find((name) => name === tool);
    if (!known || !tools) return { because: `there is no function ${tool}` };
    const asked = { kind: 'call', id, function: known, arguments: argumentsOf(known, values) } as const;
    const reply = await answer(asked, { ...tools, checkpoint: async () => {} }, ledger, signal);
    const given: Json = 'answer' in reply ? reply.answer : { error: reply.refused };
    return { value: fences.hide(given) };
  };

  return {
    host: (wanted, signal) => (wanted.kind === 'ask' ? ask(wanted.turns, signal) : call(wanted, signal)),
    notes,
    get refusal() {
      return refusal;
    },
  };
}
