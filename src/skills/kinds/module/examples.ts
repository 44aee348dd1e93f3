import { z } from 'zod';
import { canonicalJson, contentHash } from '../../../core/canonical.ts';
import type { Diagnostic } from '../../../core/diagnostic.ts';
import { messageOf } from '../../../core/errors.ts';
import type { SkillOutcome } from '../../../domain/skill/manifest.ts';
import type { Module } from '../../../domain/skill/module.ts';
import { expectedSchema, inputsSchema, type Values } from './shape.ts';

/** The input of a module, and those of its outputs that are known to be right. */
export interface Example {
  input: Values;
  expected: Values;
}

const FEWEST_EXAMPLES = 6;
const MAX_EXAMPLES = 500;
/** Each is evaluated with all others of its part as examples, which must fit into a prompt. */
const MAX_TRAINING = 16;
const MAX_DIAGNOSTICS = 20;

/** An example in a file: all inputs, and some of the outputs. */
export function exampleSchema(module: Module, outcome: SkillOutcome): z.ZodType<Example> {
  return z.strictObject({ input: inputsSchema(module), expected: expectedSchema(module, outcome) });
}

/** Reads JSON lines `{"input": {…}, "expected": {…}}`. Duplicates count once. Never throws. */
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
      else refuse(read.error.issues.map(describe).join('; '));
    } catch (error) {
      refuse(`this is not valid JSON: ${messageOf(error)}`);
    }
    if (diagnostics.length === MAX_DIAGNOSTICS) break;
  }
  const count = examples.size;
  if (diagnostics.length === 0 && (count < FEWEST_EXAMPLES || count > MAX_EXAMPLES)) {
    const message = `there must be ${FEWEST_EXAMPLES} to ${MAX_EXAMPLES} different examples, and there are ${count}`;
    diagnostics.push({ file, line: 1, column: 1, message });
  }
  return diagnostics.length > 0 ? { diagnostics } : { examples: [...examples.values()] };
}

/**
 * Splits by content and seed, so that the order of the file and changes to other examples move as few
 * examples as possible. A third is held out for measuring.
 */
export function split(examples: readonly Example[], seed: number): { train: Example[]; heldOut: Example[] } {
  const rank = new Map(examples.map((example) => [example, contentHash({ seed, example })]));
  const inOrder = examples.toSorted((a, b) => ((rank.get(a) ?? '') < (rank.get(b) ?? '') ? -1 : 1));
  const held = Math.max(2, Math.round(examples.length / 3));
  return { heldOut: inOrder.slice(0, held), train: inOrder.slice(held, held + MAX_TRAINING) };
}

function describe({ path, message }: { path: PropertyKey[]; message: string }): string {
  return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`;
}
