import type { z } from 'zod';
import { checkValue } from '../../core/check-value.ts';
import { memberDiagnostic } from '../../core/json-members.ts';
import type { Failure } from '../../ports/model.ts';

export type Judged<T> = { ok: true; value: T } | { ok: false; failure: Failure };

/**
 * Reads an answer strictly: one JSON value of the schema's shape. What stands around it is not searched for JSON, since a
 * sentence before a verdict may take it back; for the same reason no member may be there twice. Only a code fence around the whole is taken off, which many models cannot do without.
 */
export function judge<T>(text: string, schema: z.ZodType<T>): Judged<T> {
  if (text.trim() === '') return { ok: false, failure: { kind: 'empty' } };
  const written = unfenced(text);
  let json: unknown;
  try {
    json = JSON.parse(written);
  } catch {
    return { ok: false, failure: { kind: 'not_json' } };
  }
  const detail = memberDiagnostic(written);
  if (detail !== undefined) return { ok: false, failure: { kind: 'wrong_shape', detail } };
  try {
    const checked = checkValue(schema, json);
    if (checked.ok) return checked;
    return { ok: false, failure: { kind: 'wrong_shape', detail: checked.detail } };
  } catch {
    // A value nested many thousands deep exhausts the stack of whoever walks through it.
    return { ok: false, failure: { kind: 'wrong_shape', detail: 'it is nested too deeply' } };
  }
}

function unfenced(text: string): string {
  return /^\s*```(?:json)?\n([\s\S]*)\n```\s*$/.exec(text)?.[1] ?? text;
}
