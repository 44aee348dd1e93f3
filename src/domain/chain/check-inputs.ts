import { z } from 'zod';
import type { Json } from '../../core/canonical.ts';
import { type Diagnostic, notAllowed } from '../../core/diagnostic.ts';
import { isMapping, memberOf } from '../../core/mapping.ts';
import { holdsExpression } from '../expression/template.ts';
import type { KnownNames } from './known-names.ts';
import type { StepOutline } from './outline.ts';
import type { Path, YamlSource } from './positions.ts';
import { checkShape } from './shape.ts';

/**
 * Diagnostics of the `with:` of actions and built-in skills. Where a value is an expression, it is checked when it is rendered. A key that the
 * action or skill does not know is allowed if a rule of `validate:` reads it.
 */
export function checkInputs(
  source: YamlSource,
  steps: readonly StepOutline[],
  known: KnownNames,
): Diagnostic[] {
  return steps.flatMap((step) => {
    // A step with both has its own diagnostic.
    if (step.skill !== undefined && step.action !== undefined) return [];
    const kind = step.skill === undefined ? 'action' : 'skill';
    const name = step.skill ?? step.action;
    const schema = name === undefined ? undefined : known.inputOf?.({ kind, name });
    const value = step.with ?? {};
    if (!schema || !isMapping(value)) return [];
    const at: Path = ['steps', step.index, step.with === undefined ? kind : 'with'];
    const { diagnostics } = checkShape(
      withValidated(schema, step),
      {
        value,
        diagnostic: (path, message, options) =>
          source.diagnostic(
            step.with === undefined ? at : [...at, ...path],
            aboutInput(path, message),
            options,
          ),
      },
      (issue) => !isExpression(value, issue) || isLiteral(schema, issue),
    );
    return [...diagnostics, ...unknownPlaceholders(source, at, schema, value)];
  });
}

/** The requirements of built-in skills are clauses without a subject, because a step's reason has one. */
function aboutInput(path: Path, message: string): string {
  return /^(is|can) /.test(message) ? `"${String(path[0])}" ${message}` : message;
}

function withValidated(schema: z.ZodObject, { validate }: StepOutline): z.ZodObject {
  const rules = Array.isArray(validate) ? validate : [];
  const read = rules.flatMap((rule) => String(memberOf(rule, 'field') ?? '').split('.', 1));
  const more = read.filter((key) => key !== '' && !Object.hasOwn(schema.shape, key));
  return more.length === 0
    ? schema
    : schema.safeExtend(Object.fromEntries(more.map((key) => [key, z.unknown().optional()])));
}

/** Words in single braces that the action would leave as they are. */
function unknownPlaceholders(
  source: YamlSource,
  at: Path,
  { shape }: z.ZodObject,
  given: { readonly [key: string]: Json },
): Diagnostic[] {
  return Object.entries(given).flatMap(([key, value]) => {
    const field = shape[key] as z.ZodType | undefined;
    const allowed = field?.meta()?.placeholders as readonly string[] | undefined;
    // Without a finding of its own, the issue has nothing to put there.
    if (!allowed || typeof value !== 'string' || given.per === 'run') return [];
    const words = value.replaceAll(/\{\{.*?\}\}/gs, '').matchAll(/\{(\w+)\}/g);
    return [...new Set([...words].flatMap(([, word]) => word ?? []))]
      .filter((word) => !allowed.includes(word))
      .map((word) => source.diagnostic([...at, key], notAllowed(`there is no {${word}}`, allowed, word)));
  });
}

/** An input that cannot be an expression. */
function isLiteral({ shape }: z.ZodObject, { path: [key] }: z.core.$ZodIssue): boolean {
  const field = shape[String(key)] as z.ZodType | undefined;
  return field?.meta()?.literal === true;
}

function isExpression(value: Json, { code, path }: z.core.$ZodIssue): boolean {
  if (code === 'unrecognized_keys') return false;
  let found: Json | undefined = value;
  for (const key of path) {
    // A list may be written as one text.
    if (typeof found === 'string') break;
    found = Array.isArray(found) ? found[Number(key)] : memberOf(found, String(key));
  }
  return typeof found === 'string' && holdsExpression(found);
}
