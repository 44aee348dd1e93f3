import type { Json } from '../../core/canonical.ts';
import { type Expression, parseSegments, partsOf } from '../expression/syntax.ts';
import type { Chain } from './chain.ts';

const INPUT = /^input_(.+)$/;

/**
 * The inputs without which a step of the chain would get nothing: those that a `with:` reads, unless it has a
 * default for them or asks whether they are there. A condition may always ask.
 */
export function requiredInputs({ steps }: Pick<Chain, 'steps'>): string[] {
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
