import type { Diagnostic } from '../../core/diagnostic.ts';
import { memberOf } from '../../core/mapping.ts';
import { holdsExpression, withoutBraces } from '../expression/template.ts';
import { FACT_NAMES, PR_FACTS } from '../policy/facts/fact.ts';
import { compileCriterion, factsIn } from '../policy/gate/criterion.ts';
import { checkExpression, checkReference, type Readable } from './check.ts';
import { dependenciesOf } from './graph.ts';
import type { StepOutline } from './outline.ts';
import type { Path, YamlSource } from './positions.ts';

/** Diagnostics of steps with `action: wait` that its schema cannot express. */
export function checkWaits(
  source: YamlSource,
  steps: readonly StepOutline[],
  readable: Readable,
): Diagnostic[] {
  return steps.flatMap((step) => {
    if (step.action !== 'wait' || step.skill !== undefined) return [];
    const [length, until, timeout] = ['for', 'until', 'timeout'].map((key) => memberOf(step.with, key));
    const at: Path = ['steps', step.index, step.with === undefined ? 'action' : 'with'];
    if (length === undefined && until === undefined)
      return [source.diagnostic(at, 'wait needs either "for", a length of time, or "until", an expression')];
    const key = (name: string, message: string) => source.diagnostic([...at, name], message, { part: 'key' });
    return [
      ...(length !== undefined && until !== undefined
        ? [key('until', 'wait has either "for" or "until", not both')]
        : []),
      ...(timeout !== undefined && until === undefined
        ? [key('timeout', '"timeout" goes with "until"; "for" is a length of time itself')]
        : []),
      ...(typeof until === 'string'
        ? checkUntil(source, [...at, 'until'], until, (reference) =>
            checkReference(reference, steps, {
              mayRead: new Set(dependenciesOf(steps, step.id)),
              ...readable,
            }),
          )
        : []),
    ];
  });
}

function checkUntil(
  source: YamlSource,
  path: Path,
  until: string,
  unreadable: Parameters<typeof checkExpression>[4],
): Diagnostic[] {
  const diagnostics = checkExpression(source, path, until, compileCriterion, unreadable);
  if (diagnostics.length > 0) return diagnostics;
  if (holdsExpression(withoutBraces(until)))
    return [source.diagnostic(path, '"until" is one expression, without braces inside it')];
  if (factsIn(compileCriterion(until)).some((name) => !PR_FACTS[name].settled)) return [];
  const changing = FACT_NAMES.filter((name) => !PR_FACTS[name].settled).map((name) => `pr.${name}`);
  return [
    source.diagnostic(
      path,
      `nothing in it changes while the step waits; name at least one of ${changing.join(', ')}`,
    ),
  ];
}
