import type { Json } from '../../core/canonical.ts';
import { type Diagnostic, notAllowed } from '../../core/diagnostic.ts';
import { isMapping, memberOf } from '../../core/mapping.ts';
import { actionNamed, byThen } from '../policy/capability.ts';
import { compilePattern, PatternError } from '../rule/pattern.ts';
import { MAX_PATTERN_LENGTH } from '../rule/rule.ts';
import { duplicate, rangeDiagnostic } from '../rule/rule-set.ts';
import type { KnownNames } from './known-names.ts';
import { outcomeFieldsOf } from './outcome-fields.ts';
import type { StepOutline } from './outline.ts';
import type { Path, YamlSource } from './positions.ts';

/**
 * Whether a pattern of the file was too large. Compiling one takes a tenth of a second, a file can have
 * hundreds, and anybody can open a pull request with such files. So after the first one, the file's other
 * patterns are not compiled.
 */
interface Tried {
  tooLarge: boolean;
}

/**
 * Diagnostics of `validate:` and `expect:` that the schema cannot express. The schema reports wrong types.
 */
export function checkRules(
  source: YamlSource,
  steps: readonly StepOutline[],
  known: KnownNames,
): Diagnostic[] {
  const tried: Tried = { tooLarge: false };
  return steps.flatMap((step) => {
    const inputs = isMapping(step.with) ? Object.keys(step.with) : step.with === undefined ? [] : undefined;
    const fields = outcomeFieldsOf(step, known);
    return [
      ...checkList(source, ['steps', step.index, 'validate'], step.validate, 'input', inputs, tried),
      ...checkList(source, ['steps', step.index, 'expect'], step.expect, 'outcome', fields, tried),
      ...checkIrreversible(source, step),
    ];
  });
}

/** Nobody could undo what broke the expectation. */
function checkIrreversible(source: YamlSource, { index, action, expect }: StepOutline): Diagnostic[] {
  const declared = actionNamed(action);
  if (!declared?.irreversible || expect === undefined) return [];
  const message = `${declared.name} cannot have "expect": ${byThen(declared)}; expect it of the steps before`;
  return [source.diagnostic(['steps', index, 'expect'], message, { part: 'key' })];
}

function checkList(
  source: YamlSource,
  path: Path,
  rules: Json | undefined,
  of: 'input' | 'outcome',
  fields: readonly string[] | undefined,
  tried: Tried,
): Diagnostic[] {
  if (!Array.isArray(rules)) return [];
  const ids = rules.map((rule) => memberOf(rule, 'rule_id'));
  return rules.flatMap((rule, index) => {
    const at = [...path, index];
    const [id, field] = [ids[index], memberOf(rule, 'field')];
    const isDuplicate = typeof id === 'string' && ids.indexOf(id) < index;
    return [
      ...(isDuplicate ? [source.diagnostic([...at, 'rule_id'], duplicate(id))] : []),
      ...(typeof field === 'string' ? checkField(source, [...at, 'field'], field, of, fields) : []),
      ...checkRange(source, at, rule),
      ...checkPattern(source, [...at, 'pattern'], memberOf(rule, 'pattern'), tried),
    ];
  });
}

/** A rule on a field that cannot exist would fail in every run, or never apply if the rule is optional. */
function checkField(
  source: YamlSource,
  path: Path,
  field: string,
  of: 'input' | 'outcome',
  fields: readonly string[] | undefined,
): Diagnostic[] {
  const [name = ''] = field.split('.');
  if (!fields || fields.includes(name)) return [];
  const sentence = of === 'input' ? `"with" has no input "${name}"` : `no outcome of this step has "${name}"`;
  return [source.diagnostic(path, notAllowed(sentence, fields, name))];
}

function checkRange(source: YamlSource, path: Path, rule: Json): Diagnostic[] {
  if (memberOf(rule, 'check') !== 'range') return [];
  const [min, max] = [memberOf(rule, 'min'), memberOf(rule, 'max')];
  const isBound = (bound: Json | undefined) => bound === undefined || typeof bound === 'number';
  if (!isBound(min) || !isBound(max)) return [];
  const diagnostic = rangeDiagnostic(min, max);
  return diagnostic === undefined
    ? []
    : [source.diagnostic(min === undefined ? path : [...path, 'min'], diagnostic)];
}

function checkPattern(source: YamlSource, path: Path, pattern: Json | undefined, tried: Tried): Diagnostic[] {
  const isFit = typeof pattern === 'string' && pattern.length <= MAX_PATTERN_LENGTH;
  if (!isFit || tried.tooLarge) return [];
  try {
    compilePattern(pattern);
    return [];
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    tried.tooLarge ||= error.tooLarge;
    return [source.diagnostic(path, error.message)];
  }
}
