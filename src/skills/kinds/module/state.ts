import { z } from 'zod';
import type { Json } from '../../../core/canonical.ts';
import type { SkillOutcome } from '../../../domain/skill/manifest.ts';
import type { Module } from '../../../domain/skill/module.ts';
import { hideUntrusted } from './facts.ts';
import type { Fences } from './fences.ts';
import { inputsSchema, outputsSchema, type Values } from './shape.ts';

const MAX_DEMOS = 8;

const json: z.ZodType<Json> = z.json();
const values = z.record(z.string(), json);
const stateSchema = z.strictObject({
  format: z.literal(1),
  demos: z.array(z.strictObject({ input: values, output: values })).max(MAX_DEMOS),
  /** On the held-out examples, from 0 to 1. */
  score: z.number().min(0).max(1),
});

/** The result of optimizing a module: data, never code. */
export type ModuleState = z.infer<typeof stateSchema>;

/** The stored state, if it fits the module; otherwise none. */
export function readState(
  stored: Json | null,
  module: Module,
  outcome: SkillOutcome,
): ModuleState | undefined {
  const { data } = stateSchema.safeParse(stored);
  const fits = data?.demos.every(({ input, output }) => isDemo(module, outcome, input, output));
  return fits ? data : undefined;
}

export function isDemo(module: Module, outcome: SkillOutcome, input: Values, output: Values): boolean {
  return (
    inputsSchema(module).safeParse(input).success && outputsSchema(module, outcome).safeParse(output).success
  );
}

/** The demonstrations for the engine, with the untrusted parts of their inputs hidden. */
export function demosOf(state: ModuleState | undefined, fences: Fences): Values[] {
  return (state?.demos ?? []).map(({ input, output }) => ({ ...output, ...hideUntrusted(input, fences) }));
}
