import { z } from 'zod';
import { canonicalJson, type Json } from '../../../core/canonical.ts';

const schema = z.object({ inputs: z.record(z.string(), z.json()) });

/** What a trace keeps of the call of a module: the values it was called with, since examples are made of them, beside what its model was asked. */
export function moduleInput(inputs: { [name: string]: Json }, asked: readonly string[]): string {
  return canonicalJson({ inputs, asked: [...asked] });
}

/** The values in such a text; `undefined` for any other. */
export function inputsIn(text: string): { [name: string]: Json } | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data?.inputs;
  } catch {
    return undefined;
  }
}
