import type { Gate, StepGates, WrittenMandatory } from './gate.ts';
import { toStepGates } from './gate.ts';

/** Who asks for a gate. Those of all three hold together: none takes another's away. */
export const GATE_SCOPES = ['organisation', 'repository', 'step'] as const;
export type GateScope = (typeof GATE_SCOPES)[number];

/** Gates that hold for every step that uses a capability, whatever the chain says. */
export interface MandatoryGates extends StepGates {
  /** The name of a skill or action, or `*`. */
  uses: string;
  scope: Exclude<GateScope, 'step'>;
}

/** A gate where it stands for one step. */
export interface PlacedGate {
  gate: Gate;
  scope: GateScope;
  at: 'pre' | 'post';
}

export const EVERY_USE = '*';

/** What the settings files of the organisation and the repository ask for, one after the other. */
export function mandatoryGates(
  organisation: readonly WrittenMandatory[] = [],
  repository: readonly WrittenMandatory[] = [],
): MandatoryGates[] {
  const of = (scope: MandatoryGates['scope'], written: readonly WrittenMandatory[]) =>
    written.map(({ uses, ...lists }): MandatoryGates => ({ uses, scope, ...toStepGates(lists) }));
  return [...of('organisation', organisation), ...of('repository', repository)];
}

/**
 * The gates of a step, the farthest scope first. An irreversible one has none after it: by then it is done, so a gate that is
 * asked for after every use means nothing for it, and one that is asked for after this very action is a fault of its file.
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
  const at = (place: 'pre' | 'post') =>
    all.flatMap((gates) => gates[place].map((gate): PlacedGate => ({ gate, scope: gates.scope, at: place })));
  return { pre: at('pre'), post: irreversible ? [] : at('post') };
}
