import type { Chain } from './chain.ts';
import { stepThatFires } from './trigger.ts';
import { type Trigger, triggersOf } from './trigger-schema.ts';

/** A step, and the chain that it fires. */
interface Firing {
  by: Chain;
  step: string;
  fires: Chain;
}

/** How often a step is held against a trigger: with thousands of chains that wait for steps, only the first are compared. */
const MAX_COMPARED = 1_000;

/**
 * The shortest ways on which a chain, when it has run, fires one of its own triggers again through other chains. Each way begins
 * with a step of the chain.
 * @param others the chains beside it
 * @param outcomes the kind that each skill states
 */
export function firingCircles(
  trigger: Trigger,
  chain: Chain,
  others: readonly Chain[],
  outcomes: Readonly<Record<string, string>>,
): Firing[][] {
  if (!isHearing(trigger)) return [];
  const unseen = new Set(others.filter((one) => one.name !== chain.name && triggersOf(one).some(isHearing)));
  let left = MAX_COMPARED;
  const fired = (triggers: readonly Trigger[], by: Chain): string | undefined => {
    for (const one of triggers.filter(isHearing)) {
      if (left-- <= 0) return undefined;
      const step = stepThatFires(one, by, outcomes);
      if (step !== undefined) return step;
    }
    return undefined;
  };
  let ways: Firing[][] = [[]];
  while (ways.length > 0 && left > 0) {
    const circles: Firing[][] = [];
    const longer: Firing[][] = [];
    for (const way of ways) {
      const by = way.at(-1)?.fires ?? chain;
      const last = way.length === 0 ? undefined : fired([trigger], by);
      if (last !== undefined) circles.push([...way, { by, step: last, fires: chain }]);
      for (const next of unseen) {
        const step = fired(triggersOf(next), by);
        if (step === undefined) continue;
        unseen.delete(next);
        longer.push([...way, { by, step, fires: next }]);
      }
    }
    if (circles.length > 0) return circles;
    ways = longer;
  }
  return [];
}

function isHearing(trigger: Trigger): boolean {
  return 'event' in trigger && trigger.event === 'invocation.completed';
}
