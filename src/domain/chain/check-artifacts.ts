import type { Json } from '../../core/canonical.ts';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { memberOf } from '../../core/mapping.ts';
import { schemaDiagnostics } from '../artifact/json-schema.ts';
import type { StepOutline } from './outline.ts';
import type { Path, YamlSource } from './positions.ts';

const ACTION_OUTCOME = 'action_result';
const OF_FILES = ['path', 'glob', 'count', 'min_size', 'mime_type', 'schema'] as const;

/** Diagnostics of the artifacts that steps must produce, beyond the shape of each entry. */
export function checkArtifacts(source: YamlSource, steps: readonly StepOutline[]): Diagnostic[] {
  return steps.flatMap((step) => {
    const path: Path = ['steps', step.index, 'artifacts', 'expected'];
    return [
      ...checkExpected(source, path, step.expected),
      ...step.expected.flatMap((entry, index) => checkAction(source, [...path, index], entry, step)),
    ];
  });
}

/** The same for one list of entries, in a chain or a skill. */
export function checkExpected(source: YamlSource, list: Path, entries: readonly Json[]): Diagnostic[] {
  return entries.flatMap((entry, index) => {
    const path = [...list, index];
    return [
      ...checkId(source, path, entries, index),
      ...checkKeys(source, path, entry),
      ...checkSchema(source, path, entry),
    ];
  });
}

function checkId(source: YamlSource, path: Path, entries: readonly Json[], index: number): Diagnostic[] {
  const id = memberOf(entries[index], 'id');
  const first = entries.findIndex((other) => memberOf(other, 'id') === id);
  if (id === undefined || first === index) return [];
  return [
    source.diagnostic(
      [...path, 'id'],
      `the artifact id "${String(id)}" is already used by entry ${first + 1}`,
    ),
  ];
}

function checkKeys(source: YamlSource, path: Path, entry: Json): Diagnostic[] {
  const has = (key: string) => memberOf(entry, key) !== undefined;
  const at = (key: string, message: string) => source.diagnostic([...path, key], message, { part: 'key' });
  if (memberOf(entry, 'kind') === 'outcome') {
    return [
      ...(has('outcome')
        ? []
        : [source.diagnostic(path, 'an entry of kind "outcome" says which, such as outcome: ci_result')]),
      ...OF_FILES.filter(has).map((key) => at(key, `"${key}" says nothing about an outcome`)),
    ];
  }
  const { min, max } = bounds(memberOf(entry, 'count'));
  return [
    ...(has('path') || has('glob')
      ? []
      : [source.diagnostic(path, 'an entry needs a path, a glob, or kind: outcome')]),
    ...(has('path') && has('glob') ? [at('glob', 'an entry has either a path or a glob, not both')] : []),
    ...(has('glob') && !has('count')
      ? [at('glob', 'a glob needs a count: how many files there must be')]
      : []),
    ...(has('count') && !has('glob') ? [at('count', '"count" says something only about a glob')] : []),
    ...(min > max ? [at('count', 'the least count is above the most')] : []),
    ...(has('outcome') ? [at('outcome', 'an outcome is asked for with kind: outcome')] : []),
  ];
}

function bounds(count: Json | undefined): { min: number; max: number } {
  const [min, max] = [memberOf(count, 'min'), memberOf(count, 'max')];
  return typeof min === 'number' && typeof max === 'number' ? { min, max } : { min: 0, max: 0 };
}

function checkSchema(source: YamlSource, path: Path, entry: Json): Diagnostic[] {
  const schema = memberOf(entry, 'schema');
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return [];
  return schemaDiagnostics(schema).map(({ path: inner, message }) =>
    source.diagnostic([...path, 'schema', ...inner], message),
  );
}

/**
 * An action must not require a file: verification would miss it only after the action, and a merge cannot be
 * undone.
 */
function checkAction(source: YamlSource, path: Path, entry: Json, { action }: StepOutline): Diagnostic[] {
  if (action === undefined) return [];
  const outcome = memberOf(entry, 'outcome');
  if (memberOf(entry, 'kind') !== 'outcome')
    return [source.diagnostic(path, 'an action leaves no files behind')];
  return outcome === undefined || outcome === ACTION_OUTCOME
    ? []
    : [source.diagnostic([...path, 'outcome'], `the outcome of an action is ${ACTION_OUTCOME}`)];
}
