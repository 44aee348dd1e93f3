import { z } from 'zod';
import { nearest } from '../../core/diagnostic.ts';
import { redact } from '../../core/redact/redact.ts';

const INPUT_NAME = /^[a-z][a-z0-9_]{0,49}$/;
const INPUT_TYPES = ['string', 'number', 'boolean'] as const;
const MAX_INPUTS = 20;
const MAX_CHOICES = 50;
const MAX_CHOICE_LENGTH = 100;
/** Characters of a text. The same in a comment, on the command line and in a dispatch. */
export const MAX_INPUT_LENGTH = 1_000;

/** All whitespace except plain spaces, and all invisible characters. */
const UNSEEN = /(?! )[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;

const text = z
  .string()
  .max(MAX_INPUT_LENGTH)
  .refine((value) => !UNSEEN.test(value), {
    error: 'an input is one line of text, without invisible characters',
  });
const value = z.union([text, z.number(), z.boolean()], { error: 'a text, a number, true or false' });

/** One input of a chain, as people write it and as a run keeps it. Rules across keys are in `check-chain-inputs.ts`. */
export const chainInputSchema = z.strictObject({
  type: z.enum(INPUT_TYPES).optional().describe('Left out, string.'),
  required: z.boolean().optional().describe('Whether the chain cannot be fired without it. Left out, false.'),
  default: value.optional().describe('The value if none is given.'),
  choices: z
    .array(
      z.union([text.min(1).max(MAX_CHOICE_LENGTH), z.number()], {
        error: `a choice is a number, or a text with at most ${MAX_CHOICE_LENGTH} characters`,
      }),
    )
    .min(1)
    .max(MAX_CHOICES)
    .optional()
    .describe('The only values that are allowed, for a string or a number.'),
  description: z.string().max(500).optional().describe('For people who fire the chain.'),
});
export type ChainInput = z.infer<typeof chainInputSchema>;

export const chainInputsSchema = z
  .record(
    z.string().regex(INPUT_NAME, {
      error:
        'the name of an input starts with a small letter and has at most 50 small letters, digits and "_"',
    }),
    chainInputSchema,
  )
  .refine((inputs) => Object.keys(inputs).length <= MAX_INPUTS, {
    error: `a chain has at most ${MAX_INPUTS} inputs`,
  });
export type ChainInputs = z.infer<typeof chainInputsSchema>;

export type InputValue = string | number | boolean;
export type InputValues = Readonly<Record<string, InputValue>>;

/**
 * The values of a chain's inputs, or what is wrong with those that were given: all of it, each as a sentence without its
 * full stop. The one place that decides, for comments, the command line, dispatches and chains that run chains.
 * @param definition `undefined` for a chain that declares no inputs
 * @param given texts of people, or values of a payload. A number and a boolean can be written as text
 */
export function readChainInputs(
  definition: ChainInputs | undefined,
  given: Readonly<Record<string, unknown>>,
): { values: InputValues } | { problems: string[] } {
  const declared = Object.entries(definition ?? {});
  const names = declared.map(([name]) => name);
  const problems = Object.keys(given)
    .filter((name) => !names.includes(name))
    .map((name) => unknownInput(name, names));
  const values: [string, InputValue][] = [];
  for (const [name, input] of declared) {
    const found = Object.hasOwn(given, name) ? given[name] : undefined;
    if (found === undefined || found === null) {
      if (input.default !== undefined) values.push([name, input.default]);
      else if (input.required) problems.push(`"${name}" is missing`);
      continue;
    }
    const read = readValue(input, found);
    if ('value' in read) values.push([name, read.value]);
    else problems.push(`"${name}" is ${read.wanted}, and not ${shown(found)}`);
  }
  return problems.length > 0 ? { problems } : { values: Object.fromEntries(values) };
}

function unknownInput(name: string, names: readonly string[]): string {
  const meant = nearest(name.slice(0, 64), names);
  return `there is no input ${shown(name)}${meant === undefined ? '' : `: did you mean "${meant}"?`}`;
}

/** @returns the value, or what the input wants instead */
export function readValue(
  input: Pick<ChainInput, 'type' | 'choices'>,
  found: unknown,
): { value: InputValue } | { wanted: string } {
  const read = ofType(input.type ?? 'string', found);
  if (read === undefined || (input.choices && !input.choices.some((choice) => choice === read)))
    return { wanted: wanted(input) };
  return { value: read };
}

function ofType(type: (typeof INPUT_TYPES)[number], found: unknown): InputValue | undefined {
  switch (type) {
    case 'string':
      return text.safeParse(found).success ? (found as string) : undefined;
    case 'number': {
      const number = typeof found === 'string' && NUMBER.test(found) ? Number(found) : found;
      return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
    }
    case 'boolean':
      return typeof found === 'boolean' ? found : BOOLEANS.get(found);
  }
}

/** Few enough digits that the number is exactly the one that was written. */
const NUMBER = /^-?\d{1,15}(\.\d{1,15})?$/;
const BOOLEANS = new Map<unknown, boolean>([
  ['true', true],
  ['false', false],
]);

/** What an input can be, as the end of a sentence. */
function wanted({ type = 'string', choices }: Pick<ChainInput, 'type' | 'choices'>): string {
  if (choices) return choices.length === 1 ? `${choices[0]}` : `one of ${choices.join(', ')}`;
  switch (type) {
    case 'string':
      return `one line of text with at most ${MAX_INPUT_LENGTH} characters`;
    case 'number':
      return 'a number';
    case 'boolean':
      return 'true or false';
  }
}

/** What a chain can be fired with, for those who gave something else. */
export function inputsAllowed(definition: ChainInputs | undefined): string {
  const declared = Object.entries(definition ?? {});
  if (declared.length === 0) return 'the chain has no inputs';
  return `its inputs are ${declared.map(([name, input]) => `${name} (${inputAllowed(input)})`).join(', ')}`;
}

/** What an input can be, and whether it can be left out. */
export function inputAllowed(input: ChainInput): string {
  const kind = !input.choices && (input.type ?? 'string') === 'string' ? 'text' : wanted(input);
  if (input.required) return `${kind}; required`;
  return input.default === undefined ? kind : `${kind}; ${String(input.default) || 'empty'} if left out`;
}

/** A value of anybody, shortened. Redacted before that: half a secret would not be recognised. */
function shown(found: unknown): string {
  const written = redact(typeof found === 'string' ? found : (JSON.stringify(found) ?? typeof found));
  return `"${written.length > 60 ? `${written.slice(0, 59)}…` : written}"`;
}

/** The inputs that a run has if nobody gave any. */
export function defaultInputs(definition: ChainInputs | undefined): InputValues {
  const read = readChainInputs(withoutRequired(definition), {});
  return 'values' in read ? read.values : {};
}

function withoutRequired(definition: ChainInputs = {}): ChainInputs {
  return Object.fromEntries(
    Object.entries(definition).map(([name, input]) => [name, { ...input, required: false }]),
  );
}
