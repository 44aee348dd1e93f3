import { contentHash } from '../../../core/canonical.ts';
import type { PlacedGate } from '../../gate/placed.ts';
import type { Criterion, GateVerdict } from '../../outcome/gate-verdict.ts';
import { type GateInputs, question } from './judge.ts';
import { unjudged, verdictOf } from './verdict.ts';

/** The inputs of a gate's judgement, read for one attempt. */
export type Grounds =
  | { kind: 'inputs'; inputs: GateInputs }
  /** The answer of the gate's skill; `hash` identifies its inputs. */
  | { kind: 'answer'; criterion: Criterion; hash: string }
  /** The skill answered for the same head before, and its answer cannot change. */
  | { kind: 'same_answer'; verdict: GateVerdict }
  /** Reading or judging threw an error. */
  | { kind: 'error'; because: string };

/**
 * The verdict of a gate: the last one, if it was judged on the same inputs, or a new one.
 * @throws CountersignError if it cannot be judged
 */
export function judgeGate(
  placed: PlacedGate,
  step: string,
  grounds: Grounds,
  last: GateVerdict | undefined,
): GateVerdict {
  const { gate } = placed;
  const lastOn = (hash: string) => (last?.inputs_hash === hash ? last : undefined);
  switch (grounds.kind) {
    case 'inputs': {
      const criteria = gate.kind === 'criteria' ? gate.criteria : [];
      const questions = criteria.map((criterion) => question(criterion, grounds.inputs));
      const hash = contentHash({ gate, inputs: questions.map(({ inputs }) => inputs) });
      return (
        lastOn(hash) ??
        verdictOf(
          placed,
          step,
          questions.map((asked) => asked.judge()),
          hash,
        )
      );
    }
    case 'answer':
      return lastOn(grounds.hash) ?? verdictOf(placed, step, [grounds.criterion], grounds.hash);
    case 'same_answer':
      return grounds.verdict;
    case 'error': {
      const hash = contentHash({ gate, because: grounds.because });
      return lastOn(hash) ?? unjudged(placed, step, grounds.because, hash);
    }
  }
}
