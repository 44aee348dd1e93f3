import { z } from 'zod';
import { canonicalJson, contentHash } from '../../../core/canonical.ts';
import type { Diagnostic } from '../../../core/diagnostic.ts';
import { messageOf } from '../../../core/errors.ts';
import type { SkillOutcome } from '../../../domain/skill/manifest.ts';
import type { Module } from '../../../domain/skill/module.ts';
import { expectedSchema, inputsSchema, type Values } from './shape.ts';

/** What a module was asked, and what of its outputs is known to be right. */
export interface Example {
  input: Values;
  expected: Values;
}

export const FEWEST_EXAMPLES = 6;
const MOST_EXAMPLES = 500;
/** Each is asked with all others of its part as examples, which must fit in a prompt. */
const MOST_TRAINED = 16;
const MOST_DIAGNOSTICS = 20;

/** An example as it is written: all inputs, and some of the outputs. */
export function exampleSchema(module: Module, outcome: SkillOutcome): z.ZodType<Example> {
  return z.strictObject({ input: inputsSchema(module), expected: expectedSchema(module, outcome) });
}

/** Reads JSON lines `{"input": {…}, "expected": {…}}`; the same example twice counts once. Never throws. */
export function parseExamples(
  text: string,
  file: string,
  module: Module,
  outcome: SkillOutcome,
): { examples: Example[] } | { diagnostics: Diagnostic[] } {
  const schema = exampleSchema(module, outcome);
  const examples = new Map<string, Example>();
  const diagnostics: Diagnostic[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const refuse = (message: string) => diagnostics.push({ file, line: index + 1, column: 1, message });
    try {
      const read = schema.safeParse(JSON.parse(line));
      if (read.success) examples.set(canonicalJson(read.data), read.data);
      else refuse(read.error.issues.map(told).join('; '));
    } catch (error) {
      refuse(`this is not valid JSON: ${messageOf(error)}`);
    }
    if (diagnostics.length === MOST_DIAGNOSTICS) break;
  }
  const count = examples.size;
  if (diagnostics.length === 0 && (count < FEWEST_EXAMPLES || count > MOST_EXAMPLES)) {
    const message = `there must be ${FEWEST_EXAMPLES} to ${MOST_EXAMPLES} different examples, and there are ${count}`;
    diagnostics.push({ file, line: 1, column: 1, message });
  }
  return diagnostics.length > 0 ? { diagnostics } : { examples: [...examples.values()] };
}

/**
 * Divides them by their content and the seed, so that neither the order of the file nor the rest of it moves an example from one part
 * to the other more than it must. A third is held out: what is found with the others is measured on it.
 */
export function split(examples: readonly Example[], seed: number): { train: Example[]; heldOut: Example[] } {
  const rank = new Map(examples.map((example) => [example, contentHash({ seed, example })]));
  const inOrder = examples.toSorted((a, b) => ((rank.get(a) ?? '') < (rank.get(b) ?? '') ? -1 : 1));
  const held = Math.max(2, Math.round(examples.length / 3));
  return { heldOut: inOrder.slice(0, held), train: inOrder.slice(held, held + MOST_TRAINED) };
}

function told({ path, message }: { path: PropertyKey[]; message: string }): string {
  return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`;
}
