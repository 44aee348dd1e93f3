import type { Chain } from './chain.ts';
import { stepThatFires } from './trigger.ts';
import { type Trigger, triggersOf } from './trigger-schema.ts';

/** How many runs may start one another, so that chains that fire or run each other end. */
export const MAX_DEPTH = 5;

/** A step, and the chain that it fires. */
interface Firing {
  by: Chain;
  step: string;
  fires: Chain;
}

/**
 * The shortest cycles on which a chain, when it has run, fires one of its own triggers again through other chains. Each begins
 * with a step of the chain.
 */
export type FiringCycles = (trigger: Trigger, chain: Chain) => Firing[][];

/** How many steps are held against triggers, and firings followed, for all chains that are checked together: about half a second. */
const MAX_LOOKS = 50_000;

/** How many cycles are reported for one trigger. Somebody who resolves these sees the next. */
const MAX_CYCLES = 5;

/**
 * Finds cycles among chains that are checked together. What fires what is found out once for all of them. Longer cycles than
 * `MAX_DEPTH` are left out, because the app ends them before they close.
 * @param chains read for the first trigger that waits for steps
 * @param outcomes the kind that each skill states
 */
export function firingCycles(
  chains: () => readonly Chain[],
  outcomes: Readonly<Record<string, string>>,
): FiringCycles {
  let left = MAX_LOOKS;
  let known: ReturnType<typeof listenersOf> | undefined;
  const found = new Map<Chain, Firing[]>();

  const stepOf = (by: Chain, triggers: readonly Trigger[]): string | undefined => {
    for (const trigger of triggers.filter(isHearing)) {
      left -= by.steps.length;
      const step = stepThatFires(trigger, by, outcomes);
      if (step !== undefined) return step;
    }
    return undefined;
  };

  const firedBy = (by: Chain): Firing[] => {
    const before = found.get(by);
    if (before) return before;
    known ??= listenersOf(chains());
    const firings: Firing[] = [];
    for (const listeners of [known.byName.get(by.name) ?? [], known.others]) {
      for (const fires of listeners) {
        if (left <= 0) return firings;
        const step = stepOf(by, triggersOf(fires));
        if (step !== undefined) firings.push({ by, step, fires });
      }
    }
    found.set(by, firings);
    return firings;
  };

  return (trigger, chain) => {
    if (!isHearing(trigger) || left <= 0) return [];
    const seen = new Set([chain.name]);
    let ways: Firing[][] = [[]];
    for (let length = 1; length <= MAX_DEPTH && ways.length > 0; length++) {
      const cycles: Firing[][] = [];
      const longer: Firing[][] = [];
      for (const way of ways) {
        const by = way.at(-1)?.fires ?? chain;
        const step = way.length === 0 ? undefined : stepOf(by, [trigger]);
        if (step !== undefined) cycles.push([...way, { by, step, fires: chain }]);
        if (cycles.length === MAX_CYCLES) return cycles;
        for (const firing of length < MAX_DEPTH ? firedBy(by) : []) {
          if (left-- <= 0) return cycles;
          if (seen.has(firing.fires.name)) continue;
          seen.add(firing.fires.name);
          longer.push([...way, firing]);
        }
      }
      if (cycles.length > 0) return cycles;
      ways = longer;
    }
    return [];
  };
}

/** The chains that wait for steps: those that wait for chains by their names can be looked up, the others must be compared. */
function listenersOf(chains: readonly Chain[]): { byName: Map<string, Chain[]>; others: Chain[] } {
  const byName = new Map<string, Chain[]>();
  const others: Chain[] = [];
  // As for a step that runs a chain, the last of a name counts: a file replaces the shipped chain with its name.
  for (const chain of new Map(chains.map((one) => [one.name, one])).values()) {
    const hearing = triggersOf(chain).filter(isHearing);
    const names = hearing.map((trigger) => ('event' in trigger ? trigger.filter.chain : undefined));
    if (hearing.length === 0) continue;
    if (!names.every((list) => list?.every(isPlainName))) {
      others.push(chain);
      continue;
    }
    for (const name of new Set(names.flatMap((list) => list ?? []))) {
      const waiting = byName.get(name);
      if (waiting) waiting.push(chain);
      else byName.set(name, [chain]);
    }
  }
  return { byName, others };
}

function isPlainName(glob: string): boolean {
  return /^[a-z0-9-]+$/.test(glob);
}

function isHearing(trigger: Trigger): boolean {
  return 'event' in trigger && trigger.event === 'invocation.completed';
}
