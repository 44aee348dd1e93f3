import { type Diagnostic, notAllowed } from '../../core/diagnostic.ts';
import { holdsExpression } from '../expression/template.ts';
import { runsChain } from '../policy/capability.ts';
import type { Chain } from './chain.ts';
import { readFired } from './fired-inputs.ts';
import { type Path, readYaml, type YamlSource } from './positions.ts';

/**
 * Diagnostics of the steps of a valid chain file that run other chains: a chain that is not there, inputs that it does not
 * take, and a circle. Where a value is an expression, the step checks it when it runs.
 * @param others the chains that are known, by any of which the steps can mean
 * @param isComplete whether there can be no others, such as those of an organisation
 */
export function checkCalls(
  text: string,
  chain: Chain,
  file: string,
  others: () => readonly Chain[],
  { isComplete }: { isComplete: boolean },
): Diagnostic[] {
  const calls = chain.steps.filter(runsChain);
  if (calls.length === 0) return [];
  const source = readYaml(text, file);
  const known = new Map([...others(), chain].map((one) => [one.name, one]));
  return calls.flatMap((step) => {
    const at: Path = ['steps', step.index, 'with'];
    const name = String(step.with.chain);
    const called = known.get(name);
    if (!called) {
      const names = [...known.keys()].filter((one) => one !== chain.name).sort();
      const message = notAllowed(`there is no chain "${name}"`, names, name);
      return isComplete ? [source.diagnostic([...at, 'chain'], message)] : [];
    }
    const circle = pathBetween(called, chain.name, known);
    if (circle) {
      const message = `these chains run each other: ${[chain.name, ...circle].join(' → ')}`;
      return [source.diagnostic([...at, 'chain'], message)];
    }
    return wrongInputs(source, at, called, step.with.inputs);
  });
}

function wrongInputs(
  source: YamlSource,
  at: Path,
  called: Chain,
  written: Chain['steps'][number]['with'][string] | undefined,
): Diagnostic[] {
  const given = typeof written === 'object' && written !== null && !Array.isArray(written) ? written : {};
  const isOpen = (value: unknown) => typeof value === 'string' && holdsExpression(value);
  const { inputs } = called;
  // What an expression gives is not known yet, so those inputs are neither given nor missing here.
  const open = Object.keys(given).filter(
    (name) => isOpen(given[name]) && (!inputs || Object.hasOwn(inputs, name)),
  );
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !open.includes(name)));
  const declared =
    inputs && Object.fromEntries(Object.entries(inputs).filter(([name]) => !open.includes(name)));
  if (!declared && open.length > 0) return [];
  const read = readFired({ steps: called.steps, ...(declared && { inputs: declared }) }, rest);
  if (!('problem' in read)) return [];
  const message = `the chain "${called.name}" cannot run with these inputs: ${read.problem}`;
  return [source.diagnostic(written === undefined ? [...at, 'chain'] : [...at, 'inputs'], message)];
}

/** The chains from one to the other, both included; `undefined` if none of them runs the other. */
function pathBetween(
  from: Chain,
  to: string,
  known: ReadonlyMap<string, Chain>,
  seen = new Set<string>(),
): string[] | undefined {
  if (from.name === to) return [to];
  seen.add(from.name);
  for (const step of from.steps.filter(runsChain)) {
    const next = known.get(String(step.with.chain));
    if (!next || seen.has(next.name)) continue;
    const path = pathBetween(next, to, known, seen);
    if (path) return [from.name, ...path];
  }
  return undefined;
}
