import type { z } from 'zod';
import { checkValue } from '../../core/check-value.ts';
import { memberDiagnostic } from '../../core/json-members.ts';
import type { Failure } from '../../ports/model.ts';

export type Judged<T> = { ok: true; value: T } | { ok: false; failure: Failure };

/**
 * Parses an answer strictly: one JSON value that matches the schema. Text around it is not searched for JSON,
 * because a sentence before a verdict could retract it. For the same reason, duplicate members are errors.
 * Only a code fence around the whole is removed, because many models always add one.
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
    // A deeply nested value exhausts the stack of the validator.
    return { ok: false, failure: { kind: 'wrong_shape', detail: 'it is nested too deeply' } };
  }
}

function unfenced(text: string): string {
  return /^\s*```(?:json)?\n([\s\S]*)\n```\s*$/.exec(text)?.[1] ?? text;
}
