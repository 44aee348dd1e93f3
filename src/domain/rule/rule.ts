import { z } from 'zod';

/** The types of values that a rule can require. An `int` is also a `float`; a `bool` is not a number. */
export const FIELD_TYPES = ['str', 'int', 'float', 'bool', 'list', 'dict'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** In UTF-16 units, longer than normal patterns need. */
export const MAX_PATTERN_LENGTH = 200;
export const MAX_RULES = 20;

const common = {
  rule_id: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,49}$/, {
      error: 'a rule_id has at most 50 letters, digits, "-" and "_", and starts with a letter or digit',
    })
    .describe('The name by which a failure tells of the rule; each once in a list.'),
  field: z
    .string()
    .max(200)
    .regex(/^[A-Za-z_][\w-]*(\.[\w-]+)*$/, {
      error: 'a field is a name, or names with dots between them, such as pr or checks.0.name',
    })
    .describe('The value to check, with dots into lists and mappings, such as checks.length.'),
  enabled: z.boolean().optional().describe('false switches the rule off.'),
};

/** Without it, a missing value breaks the rule, because a missing verdict is no pass. */
const optional = z.boolean().optional().describe('Whether a value that is missing or null is fine.');

/** A rule that can be written in YAML. A run's definition stores it as written. */
export const writtenRuleSchema = z.discriminatedUnion('check', [
  z.strictObject({ ...common, check: z.literal('required') }),
  z.strictObject({ ...common, optional, check: z.literal('type'), type: z.enum(FIELD_TYPES) }),
  z.strictObject({
    ...common,
    optional,
    check: z.literal('range'),
    min: z.number().optional().describe('The least value allowed.'),
    max: z.number().optional().describe('The greatest value allowed.'),
  }),
  z.strictObject({
    ...common,
    optional,
    check: z.literal('pattern'),
    pattern: z
      .string()
      .min(1)
      .max(MAX_PATTERN_LENGTH)
      .describe('A regular expression (RE2 syntax) that the whole text must match.'),
  }),
]);
export type WrittenRule = z.infer<typeof writtenRuleSchema>;

/** A rule that only code can make. */
interface CustomRule {
  rule_id: string;
  field: string;
  enabled?: boolean;
  check: 'custom';
  /**
   * Only `true` means that the rule holds; a string says what is wrong. `value` is `undefined` if it is
   * missing. A thrown error breaks the rule.
   */
  holds(value: unknown, values: object): boolean | string;
  /** What is wrong, as one sentence, for a `holds` that returns false. */
  message: string;
}

/** One check of one value of a step's inputs or outcome. */
export type Rule = WrittenRule | CustomRule;

/** A rule that does not hold, and why, as one sentence. */
export interface RuleError {
  rule_id: string;
  field: string;
  message: string;
}
