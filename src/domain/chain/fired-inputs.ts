import type { Json } from '../../core/canonical.ts';
import { type Expression, parseSegments, partsOf } from '../expression/syntax.ts';
import type { Chain } from './chain.ts';
import {
  type ChainInputs,
  type InputValues,
  inputsAllowed,
  MAX_INPUT_LENGTH,
  readChainInputs,
} from './chain-inputs.ts';

const INPUT = /^input_(.+)$/;

/** What a run has of the inputs that somebody gave, or what is wrong with them. */
export type FiredInputs =
  /** `members`: as `trigger.input_<key>`, for a chain that declares no inputs. */
  { values: InputValues; members: Record<string, string> } | { problem: string };

/**
 * Reads what somebody gave to a chain. The problem is a sentence without its full stop.
 * @param again the run begins again, and may have begun without inputs
 */
export function readFired(
  { inputs, steps }: Pick<Chain, 'inputs' | 'steps'>,
  given: Readonly<Record<string, unknown>>,
  { again = false } = {},
): FiredInputs {
  if (inputs) {
    const read = readChainInputs(inputs, given);
    if ('values' in read) return { values: read.values, members: {} };
    return { problem: [...read.problems.slice(0, MAX_PROBLEMS), inputsAllowed(inputs)].join('; ') };
  }
  const texts = Object.entries(given).map(([name, value]) => [`input_${name}`, asText(value)] as const);
  const odd = texts.find(([, text]) => text === undefined);
  if (odd) return { problem: `the input "${odd[0].slice('input_'.length)}" is no text` };
  const missing = again ? [] : requiredInputs({ steps }).filter((name) => !Object.hasOwn(given, name));
  if (missing.length > 0) return { problem: `it needs ${missing.map((name) => `${name}=…`).join(' and ')}` };
  return { values: {}, members: Object.fromEntries(texts) as Record<string, string> };
}

/** The inputs that a form for the chain asks for: the declared ones, or else those without which a step would get nothing. */
export function askedInputs(chain: Pick<Chain, 'inputs' | 'steps'>): ChainInputs {
  return chain.inputs ?? Object.fromEntries(requiredInputs(chain).map((name) => [name, { required: true }]));
}

const MAX_PROBLEMS = 5;

function asText(value: unknown): string | undefined {
  const isScalar = ['string', 'number', 'boolean'].includes(typeof value);
  return isScalar && String(value).length <= MAX_INPUT_LENGTH ? String(value) : undefined;
}

/**
 * For a chain that declares no inputs: those without which a step of the chain would get nothing: those that a `with:` reads, unless it has a
 * default for them or asks whether they are there. A condition may always ask.
 */
function requiredInputs({ steps }: Pick<Chain, 'steps'>): string[] {
  const names = steps.flatMap((step) => textsIn(step.with)).flatMap(inputsIn);
  return [...new Set(names)].sort();
}

function inputsIn(text: string): string[] {
  if (!text.includes('{{')) return [];
  return parseSegments(text).flatMap((segment) =>
    segment.kind === 'expression' ? neededBy(segment.expression) : [],
  );
}

function neededBy(expression: Expression): string[] {
  switch (expression.kind) {
    case 'test':
    case 'choice':
    case 'or':
      return [];
    case 'filter':
      return expression.name === 'default' ? [] : partsOf(expression).flatMap(neededBy);
    case 'member': {
      const { target, key } = expression;
      const isTrigger = target.kind === 'name' && target.name === 'trigger' && key.kind === 'literal';
      const name = isTrigger ? INPUT.exec(String(key.value))?.[1] : undefined;
      return name === undefined ? partsOf(expression).flatMap(neededBy) : [name];
    }
    default:
      return partsOf(expression).flatMap(neededBy);
  }
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
