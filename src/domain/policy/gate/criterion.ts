import { notAllowed } from '../../../core/diagnostic.ts';
import { type CompiledExpression, compileExpression, ExpressionError } from '../../expression/condition.ts';
import { ROOTS } from '../../expression/expression.ts';
import type { Gate, GateCriterion } from '../../gate/gate.ts';
import { FACT_NAMES, type FactName, isFactName } from '../facts/fact.ts';

/** The root under which a criterion reads facts of the pull request. */
export const PR = 'pr';
const GATE_ROOTS = [...ROOTS, PR];

/**
 * Compiles the expression of a criterion. Facts must be named literally: a computed name could neither be
 * read in advance nor be reported as missing.
 * @throws ExpressionError, and no other error
 */
export function compileCriterion(source: string): CompiledExpression {
  const compiled = compileExpression(source, GATE_ROOTS);
  for (const { root, path, offset } of compiled.references) {
    const [name] = path;
    if (root !== PR || isFactName(name)) continue;
    if (name === undefined) {
      throw new ExpressionError(
        `name the fact, such as pr.labels: there are ${FACT_NAMES.join(', ')}`,
        offset,
      );
    }
    throw new ExpressionError(
      notAllowed(`a pull request has no "${name}"`, FACT_NAMES, String(name)),
      offset,
    );
  }
  return compiled;
}

/** The facts that a criterion needs. @throws ExpressionError */
function factNames(criterion: GateCriterion): FactName[] {
  switch (criterion.kind) {
    case 'expression':
      return factsIn(compileCriterion(criterion.if));
    case 'codeowners':
      return ['codeowners_approved'];
    case 'freeze':
      return [];
  }
}

/** The facts that an expression names, without duplicates. */
export function factsIn({ references }: CompiledExpression): FactName[] {
  const names = references.flatMap(({ root, path: [name] }) =>
    root === PR && isFactName(name) ? [name] : [],
  );
  return [...new Set(names)];
}

/**
 * The facts to read before these gates can be judged. A criterion whose expression does not compile needs
 * none and does not pass.
 */
export function factsFor(gates: readonly Gate[]): FactName[] {
  const names = gates.flatMap((gate) => {
    if (gate.kind === 'skill') return [];
    return gate.criteria.flatMap((criterion) => {
      try {
        return factNames(criterion);
      } catch (error) {
        if (error instanceof ExpressionError) return [];
        throw error;
      }
    });
  });
  return [...new Set(names)];
}
