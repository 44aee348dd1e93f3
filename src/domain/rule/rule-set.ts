import { CountersignError, unreachable } from '../../core/errors.ts';
import { isNothing, member } from '../expression/value.ts';
import { compilePattern, MAX_MATCHED_LENGTH, PatternError } from './pattern.ts';
import type { FieldType, Rule, RuleError } from './rule.ts';

/** What is wrong with a value, as one sentence; `undefined` if it is valid. */
type Judge = (value: unknown, values: object) => string | undefined;

/** Rules in the given order, compiled. */
export class RuleSet {
  readonly #rules: readonly { rule: Rule; judge: Judge }[];

  /**
   * @throws CountersignError `rule.duplicate` for a duplicate `rule_id`, enabled or not, and `rule.invalid`
   * for a pattern or range that cannot be used. The parser of chains reports the same with positions.
   */
  constructor(rules: readonly Rule[]) {
    const ids = new Set<string>();
    for (const { rule_id } of rules) {
      if (ids.has(rule_id)) throw new CountersignError('rule.duplicate', duplicate(rule_id));
      ids.add(rule_id);
    }
    this.#rules = rules.map((rule) => ({ rule, judge: judgeOf(rule) }));
  }

  /** Every enabled rule that does not hold, in order. A rule that throws does not hold. Never throws. */
  check(values: object): RuleError[] {
    return this.#rules.flatMap(({ rule, judge }) => {
      if (rule.enabled === false) return [];
      const message = judgeSafely(rule, judge, values);
      return message === undefined ? [] : [{ rule_id: rule.rule_id, field: rule.field, message }];
    });
  }
}

export function duplicate(ruleId: string): string {
  return `the rule_id "${ruleId}" is here twice`;
}

/** Why no number can be in the range, or `undefined` if one can. */
export function rangeDiagnostic(min: number | undefined, max: number | undefined): string | undefined {
  if (min === undefined && max === undefined) return 'a range needs a min, a max or both';
  return min !== undefined && max !== undefined && min > max
    ? `no number is at least ${min} and at most ${max}: "min" is greater than "max"`
    : undefined;
}

function judgeSafely(rule: Rule, judge: Judge, values: object): string | undefined {
  try {
    const value = valueAt(values, rule.field);
    if (rule.check === 'custom' || rule.check === 'required') return judge(value, values);
    if (!isNothing(value)) return judge(value, values);
    return rule.optional === true ? undefined : `${rule.field} is missing`;
  } catch (error) {
    // Internal error messages may contain paths or values, so only errors made for people are shown.
    const because = error instanceof CountersignError ? `: ${error.message}` : '';
    return `${rule.field} could not be checked${because}`;
  }
}

/** Own members only, as in expressions; a number is an index of a list. */
function valueAt(values: object, field: string): unknown {
  return field.split('.').reduce<unknown>((within, name) => {
    const isIndex = Array.isArray(within) && /^\d+$/.test(name);
    return member(within, isIndex ? Number(name) : name);
  }, values);
}

/** Messages quote only numbers: a string may contain something confidential. */
function judgeOf(rule: Rule): Judge {
  const { field } = rule;
  switch (rule.check) {
    case 'required':
      return (value) =>
        isNothing(value) || (typeof value === 'string' && value.trim() === '')
          ? `${field} is missing`
          : undefined;
    case 'type':
      return (value) => {
        const is = typeOf(value);
        const fits = is === rule.type || (is === 'int' && rule.type === 'float');
        return fits ? undefined : `${field} must be of type ${rule.type}, not ${is ?? 'something else'}`;
      };
    case 'range': {
      const diagnostic = rangeDiagnostic(rule.min, rule.max);
      if (diagnostic !== undefined)
        throw new CountersignError('rule.invalid', `${rule.rule_id}: ${diagnostic}`);
      const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = rule;
      return (value) => {
        if (typeof value !== 'number' || Number.isNaN(value)) return `${field} must be a number`;
        if (value < min) return `${field} must be at least ${min}, not ${value}`;
        return value > max ? `${field} must be at most ${max}, not ${value}` : undefined;
      };
    }
    case 'pattern':
      return patternJudge(rule);
    case 'custom':
      return (value, values) => {
        const answer = rule.holds(value, values);
        if (answer === true) return undefined;
        return typeof answer === 'string' && answer.trim() !== '' ? answer : rule.message;
      };
    default:
      return unreachable(rule);
  }
}

function patternJudge({ rule_id, field, pattern }: Extract<Rule, { check: 'pattern' }>): Judge {
  const compiled = compiledOf(rule_id, pattern);
  return (value) => {
    if (typeof value !== 'string') return `${field} must be a text`;
    const result = compiled.match(value);
    switch (result) {
      case 'matches':
        return undefined;
      case 'differs':
        return `${field} does not match its pattern`;
      case 'too_long':
        return `${field} has more than ${MAX_MATCHED_LENGTH} characters, and so is not matched`;
      default:
        return unreachable(result);
    }
  };
}

function compiledOf(ruleId: string, pattern: string) {
  try {
    return compilePattern(pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new CountersignError('rule.invalid', `${ruleId}: ${error.message}`);
  }
}

function typeOf(value: unknown): FieldType | undefined {
  switch (typeof value) {
    case 'string':
      return 'str';
    case 'boolean':
      return 'bool';
    case 'number':
      if (!Number.isFinite(value)) return undefined;
      return Number.isInteger(value) ? 'int' : 'float';
    case 'object':
      if (value === null) return undefined;
      return Array.isArray(value) ? 'list' : 'dict';
    default:
      return undefined;
  }
}
