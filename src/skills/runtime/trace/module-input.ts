import { z } from 'zod';
import { canonicalJson, type Json } from '../../../core/canonical.ts';

const schema = z.object({ inputs: z.record(z.string(), z.json()) });

/**
 * A module's input in a trace: the values it was called with, from which examples are made, and its prompts.
 */
export function moduleInput(inputs: { [name: string]: Json }, asked: readonly string[]): string {
  return canonicalJson({ inputs, asked: [...asked] });
}

/** The values in such a text; `undefined` for any other text. */
export function inputsIn(text: string): { [name: string]: Json } | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data?.inputs;
  } catch {
    return undefined;
  }
}
