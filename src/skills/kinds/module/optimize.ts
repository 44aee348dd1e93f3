import { canonicalJson } from '../../../core/canonical.ts';
import type { SkillOutcome } from '../../../domain/skill/manifest.ts';
import type { Module } from '../../../domain/skill/module.ts';
import type { OptimizationStage } from '../../../messages/cli/progress.ts';
import { describeDied, describeModuleFault } from '../../../messages/skills/module.ts';
import type { Failure, Model, Purpose } from '../../../ports/model.ts';
import { type Example, split } from './examples.ts';
import { hideUntrusted } from './facts.ts';
import { Fences } from './fences.ts';
import { moduleHost } from './host.ts';
import { limitsOf, programOf } from './program.ts';
import { runModule } from './run-module.ts';
import type { Values } from './shape.ts';
import { score } from './sidecar/score.ts';
import type { Sidecar } from './sidecar.ts';
import { demosOf, isDemo, type ModuleState } from './state.ts';

export interface Optimization {
  sidecar: Sidecar;
  model: Model;
  module: Module;
  outcome: SkillOutcome;
  /** The module's current state. */
  state: ModuleState | undefined;
  examples: readonly Example[];
  seed: number;
  mostDemos: number;
  purpose: Purpose;
  signal: AbortSignal;
  onProgress?: (stage: OptimizationStage) => void;
}

/** Scores are on the held-out examples, from 0 to 1. */
export type Optimized =
  | {
      kind: 'better' | 'not_better';
      before: number;
      after: number;
      trained: number;
      heldOut: number;
      state: ModuleState;
    }
  | { kind: 'no_demos'; before: number; trained: number; heldOut: number }
  /** The module could not be measured. */
  | { kind: 'failed'; because: string };

/**
 * Searches for demonstrations among the module's own answers to one part of the examples, and measures on the
 * other part whether they improve it. Every model call counts against the budgets.
 * @throws the signal's reason if aborted
 */
export async function optimizeModule(optimization: Optimization): Promise<Optimized> {
  const { train, heldOut } = split(optimization.examples, optimization.seed);
  const counts = { trained: train.length, heldOut: heldOut.length };
  const before = await measure(optimization, 'before', optimization.state, heldOut);
  if ('because' in before) return { kind: 'failed', ...before };
  optimization.onProgress?.({ kind: 'searching', among: train.length });
  const found = await demonstrations(optimization, train);
  if ('because' in found) return { kind: 'failed', ...found };
  if (found.demos.length === 0) return { kind: 'no_demos', before: before.score, ...counts };
  const state: ModuleState = { format: 1, demos: found.demos, score: 0 };
  const after = await measure(optimization, 'after', state, heldOut);
  if ('because' in after) return { kind: 'failed', ...after };
  const kind = after.score > before.score ? 'better' : 'not_better';
  return {
    kind,
    before: before.score,
    after: after.score,
    ...counts,
    state: { ...state, score: after.score },
  };
}

/**
 * The mean score. If the model could not be asked, there is none, because an outage would look like a bad
 * module.
 */
async function measure(
  { examples: _, onProgress, ...run }: Optimization,
  which: 'before' | 'after',
  state: ModuleState | undefined,
  heldOut: readonly Example[],
): Promise<{ score: number } | { because: string }> {
  let sum = 0;
  for (const [done, { input, expected }] of heldOut.entries()) {
    onProgress?.({ kind: 'measuring', which, done, of: heldOut.length });
    const end = await runModule({ ...run, state, inputs: input });
    switch (end.kind) {
      case 'answered':
        sum += score(expected, end.outputs);
        break;
      case 'failed':
        if (end.failure && !isModelsFault(end.failure)) return { because: end.because };
        break;
      case 'unavailable':
        return { because: describeDied(end.died) };
    }
  }
  return { score: sum / heldOut.length };
}

async function demonstrations(
  { sidecar, model, module, outcome, seed, mostDemos, purpose, signal }: Optimization,
  train: readonly Example[],
): Promise<{ demos: ModuleState['demos'] } | { because: string }> {
  const fences = new Fences();
  const hidden = train.map(({ input, expected }) => ({ input: hideUntrusted(input, fences), expected }));
  const limits = limitsOf(module);
  const mostAsks = train.length * limits.modelCalls;
  const timeoutMs = train.length * limits.timeoutMs;
  const served = moduleHost({ model, module, outcome, fences, purpose, mostAsks, timeoutMs });
  const end = await sidecar.perform({
    ask: {
      service: 'optimize',
      program: programOf(module, outcome, demosOf(undefined, fences)),
      examples: hidden,
      seed,
      mostDemos,
    },
    host: served.host,
    timeoutMs,
    signal,
  });
  const { failure, because = '' } = served.refusal ?? {};
  if (failure && !isModelsFault(failure)) return { because };
  switch (end.kind) {
    case 'unavailable':
      return { because: describeDied(end.because) };
    case 'timed_out':
      return { because: describeModuleFault({ kind: 'timed_out', ms: timeoutMs }) };
    case 'failed':
      return { because: describeModuleFault({ kind: 'no_sense', detail: end.because }) };
    case 'done':
      return { demos: Array.isArray(end.value) ? end.value.flatMap(toDemo).slice(0, mostDemos) : [] };
  }

  /**
   * The sidecar never saw the inputs, so they are taken from the example. An answer that matches no example
   * is not a demonstration.
   */
  function toDemo(trace: unknown): ModuleState['demos'] {
    if (typeof trace !== 'object' || trace === null) return [];
    const entries = Object.entries(trace as Values);
    const isInput = ([name]: [string, unknown]) => Object.hasOwn(module.signature.inputs, name);
    const seen = canonicalJson(Object.fromEntries(entries.filter(isInput)));
    const example = train[hidden.findIndex(({ input }) => canonicalJson(input) === seen)];
    const output = Object.fromEntries(entries.filter((entry) => !isInput(entry)));
    return example && isDemo(module, outcome, example.input, output)
      ? [{ input: example.input, output }]
      : [];
  }
}

/** Failures that the model caused, not circumstances. */
function isModelsFault({ kind }: Failure): boolean {
  return ['cut_off', 'declined', 'tool_call', 'empty', 'not_json', 'wrong_shape'].includes(kind);
}
