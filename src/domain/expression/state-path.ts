import { notAllowed } from '../../core/diagnostic.ts';
import type { Reference } from './reference.ts';
import { SLOTS } from './state-slot.ts';
import { member } from './value.ts';

/** The parts of a run's working memory that expressions can read. */
const STATE_MEMBERS = ['frame', 'working', 'gaps', 'output', 'trace'] as const;

/**
 * Why an expression cannot read `state` by this path. The part, and a slot of `working`, must be literal: a
 * computed one would bypass the rule that a condition on a gap is false.
 */
export function stateDiagnostic([part, slot]: Reference['path']): string | undefined {
  if (part === undefined) return 'name the part that you want: state.working.risks, state.frame.goal';
  if (!(STATE_MEMBERS as readonly unknown[]).includes(part))
    return notAllowed(`state has no "${part}"`, STATE_MEMBERS, String(part));
  if (part !== 'working') return undefined;
  if (slot === undefined) return 'name the slot that you want: state.working.risks';
  if ((SLOTS as readonly unknown[]).includes(slot)) return undefined;
  return notAllowed(`the working memory has no "${slot}"`, SLOTS, String(slot));
}

/** Whether any of the paths leads to a slot that is a gap in this context. */
export function readsGap(references: readonly Reference[], context: object): boolean {
  const gaps = member(member(context, 'state'), 'gaps');
  return references.some(
    ({ root, path: [part, slot] }) =>
      root === 'state' && part === 'working' && !(Array.isArray(gaps) && !gaps.includes(slot)),
  );
}
