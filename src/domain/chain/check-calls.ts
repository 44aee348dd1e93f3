import { type Diagnostic, notAllowed } from '../../core/diagnostic.ts';
import { holdsExpression } from '../expression/template.ts';
import { runsChain } from '../policy/capability.ts';
import type { Chain } from './chain.ts';
import { readFired } from './fired-inputs.ts';
import type { Path, YamlSource } from './positions.ts';

/** The chains that steps can mean. What is found out about them is shared by all files that are checked together. */
export interface Callable {
  named(name: string): Chain | undefined;
  /** Sorted. */
  names(): readonly string[];
  /** The shortest way from a chain through its steps back to it, both ends included; `undefined` if there is none. */
  circle(chain: Chain): readonly string[] | undefined;
}

/** How many steps are followed for all files that are checked together: less than half a second. */
const MAX_LOOKS = 500_000;

/** @param chains read for the first step that runs a chain */
export function callable(chains: () => readonly Chain[]): Callable {
  let known: ReadonlyMap<string, Chain> | undefined;
  let names: readonly string[] | undefined;
  let left = MAX_LOOKS;
  const all = () => (known ??= new Map(chains().map((one) => [one.name, one])));
  return {
    named: (name) => all().get(name),
    names: () => (names ??= [...all().keys()].sort()),
    circle(chain) {
      const reachedFrom = new Map<string, Chain>();
      const reached = [chain];
      for (const by of reached) {
        for (const step of by.steps.filter(runsChain)) {
          left -= 1;
          // The app ends such runs all the same, because only so many may start one another.
          if (left < 0) return undefined;
          const name = String(step.with.chain);
          if (name === chain.name) return [...wayTo(by, reachedFrom), name];
          const next = all().get(name);
          if (!next || reachedFrom.has(name)) continue;
          reachedFrom.set(name, by);
          reached.push(next);
        }
      }
      return undefined;
    },
  };
}

function wayTo(chain: Chain, reachedFrom: ReadonlyMap<string, Chain>): string[] {
  const way: string[] = [];
  for (let at: Chain | undefined = chain; at; at = reachedFrom.get(at.name)) way.push(at.name);
  return way.reverse();
}

/** Of a longer circle, the beginning and the end are named. */
const MAX_NAMED = 12;

function circleInWords(circle: readonly string[]): string {
  const more = circle.length - MAX_NAMED;
  const named = more > 0 ? [...circle.slice(0, MAX_NAMED - 1), `${more} more`, ...circle.slice(-1)] : circle;
  return `these chains run each other: ${named.join(' → ')}`;
}

/**
 * Diagnostics of the steps of a valid chain file that run other chains: a chain that is not there, inputs that it does not
 * take, and a circle. Where a value is an expression, the step checks it when it runs.
 * @param chains those that are known; the steps can mean the chain itself, too
 * @param isComplete whether there can be no others, such as those of an organisation
 */
export function checkCalls(
  source: YamlSource,
  chain: Chain,
  chains: Callable,
  { isComplete }: { isComplete: boolean },
): Diagnostic[] {
  const calls = chain.steps.filter(runsChain);
  if (calls.length === 0) return [];
  const circle = chains.circle(chain);
  const closing = circle && calls.find((step) => step.with.chain === circle[1]);
  return calls.flatMap((step) => {
    const at: Path = ['steps', step.index, 'with'];
    if (circle && step === closing) return [source.diagnostic([...at, 'chain'], circleInWords(circle))];
    const name = String(step.with.chain);
    if (name === chain.name) return [];
    const called = chains.named(name);
    if (!called) {
      const names = chains.names().filter((one) => one !== chain.name);
      const message = notAllowed(`there is no chain "${name}"`, names, name);
      return isComplete ? [source.diagnostic([...at, 'chain'], message)] : [];
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
