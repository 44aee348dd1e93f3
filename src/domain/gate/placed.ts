import type { Gate, StepGates, WrittenMandatory } from './gate.ts';
import { toStepGates } from './gate.ts';

/** Where a gate is required. The gates of all three scopes apply together; none removes another's. */
export const GATE_SCOPES = ['organisation', 'repository', 'step'] as const;
export type GateScope = (typeof GATE_SCOPES)[number];

/** Gates for every step that uses a skill or action, whatever the chain says. */
export interface MandatoryGates extends StepGates {
  /** The name of a skill or action, or `*`. */
  uses: string;
  scope: Exclude<GateScope, 'step'>;
}

/** A gate at its position for one step. */
export interface PlacedGate {
  gate: Gate;
  scope: GateScope;
  at: 'pre' | 'post';
}

export const EVERY_USE = '*';

/** The gates that the settings files of the organisation and the repository require, in this order. */
export function mandatoryGates(
  organisation: readonly WrittenMandatory[] = [],
  repository: readonly WrittenMandatory[] = [],
): MandatoryGates[] {
  const of = (scope: MandatoryGates['scope'], written: readonly WrittenMandatory[]) =>
    written.map(({ uses, ...lists }): MandatoryGates => ({ uses, scope, ...toStepGates(lists) }));
  return [...of('organisation', organisation), ...of('repository', repository)];
}

/**
 * The gates of a step, farthest scope first. An irreversible step has no gates after it, because they could not
 * prevent it: a gate required after every use does not apply to it, and one required after this very action is a
 * diagnostic of its file.
 */
export function gatesOf(
  step: { uses: { name: string }; gates?: StepGates | undefined },
  mandatory: readonly MandatoryGates[],
  irreversible: boolean,
): Record<'pre' | 'post', PlacedGate[]> {
  const all = [
    ...mandatory.filter(({ uses }) => uses === EVERY_USE || uses === step.uses.name),
    ...(step.gates === undefined ? [] : [{ scope: 'step' as const, ...step.gates }]),
  ];
  const at = (position: 'pre' | 'post') =>
    all.flatMap((gates) =>
      gates[position].map((gate): PlacedGate => ({ gate, scope: gates.scope, at: position })),
    );
  return { pre: at('pre'), post: irreversible ? [] : at('post') };
}
