import { compileParsed } from './expression.ts';
import { type Expression, parseExpression } from './syntax.ts';
import { isTruthy } from './value.ts';

/** A part of a condition, and whether the condition asks that it holds. */
export interface FalsePart {
  part: Expression;
  wanted: boolean;
}

/**
 * The smallest parts that make a condition false: of `and`, the first operand that is false, and of `or`, all of them.
 * Under `not`, a part that holds makes it false.
 * @returns `undefined` if the condition is true by itself
 */
export function falseParts(source: string, context: object): FalsePart[] | undefined {
  const condition = parseExpression(source);
  const holds = (part: Expression) => isTruthy(compileParsed(part).evaluate(context));
  if (compileParsed(condition).evaluate(context) === true) return undefined;
  return partsAgainst(condition, true, holds);
}

function partsAgainst(part: Expression, wanted: boolean, holds: (part: Expression) => boolean): FalsePart[] {
  switch (part.kind) {
    case 'not':
      return partsAgainst(part.operand, !wanted, holds);
    case 'and':
    case 'or': {
      const both = [part.left, part.right];
      const needsBoth = (part.kind === 'and') === wanted;
      const against = both.filter((operand) => holds(operand) !== wanted);
      // Without one, the last operand decided, and is neither true nor false.
      const deciding = against.length === 0 ? [part.right] : needsBoth ? against.slice(0, 1) : against;
      return deciding.flatMap((operand) => partsAgainst(operand, wanted, holds));
    }
    default:
      return [{ part, wanted }];
  }
}
