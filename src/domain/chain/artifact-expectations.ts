import type { Expected } from '../artifact/contract.ts';
import type { Verification } from '../artifact/verification.ts';
import type { Chain } from './chain.ts';

/** One thing that a run must or should produce, and whether it did. */
export interface Expectation {
  stepId: string;
  entry: Expected;
  /** `open`: not checked yet; `not_run`: its step was skipped, so nothing is expected. */
  state: 'produced' | 'absent' | 'invalid' | 'open' | 'not_run';
  /** Size in bytes, of all files together. */
  produced: { files: number; size: number; first: Verification['produced'][number] | undefined };
  /** Why it does not count, as a clause; `null` if it counts or has not been checked. */
  because: string | null;
}

interface StepNow {
  stepIndex: number;
  status: string;
  verification: Verification | null;
}

/** The artifacts that all steps of a run must produce, in step order, and whether they did. */
export function expectationsOf(definition: Chain, steps: readonly StepNow[]): Expectation[] {
  return definition.steps.flatMap(({ id, index, artifacts }) => {
    const now = steps.find(({ stepIndex }) => stepIndex === index);
    return (artifacts?.expected ?? []).map((entry) => ({ stepId: id, entry, ...resultOf(entry, now) }));
  });
}

/** One entry of a session's contract. */
export function expectationOf(
  stepId: string,
  entry: Expected,
  verification: Verification | null,
): Expectation {
  return { stepId, entry, ...resultOf(entry, { stepIndex: 0, status: '', verification }) };
}

function resultOf(entry: Expected, step: StepNow | undefined): Omit<Expectation, 'stepId' | 'entry'> {
  const { verification = null, status } = step ?? {};
  const files = verification?.produced.filter(({ id }) => id === entry.id) ?? [];
  const produced = {
    files: files.length,
    size: files.reduce((sum, { size }) => sum + size, 0),
    first: files[0],
  };
  if (verification === null)
    return { state: status === 'skipped' ? 'not_run' : 'open', produced, because: null };
  const missing = [...verification.missing_required, ...verification.missing_optional].find(
    ({ id }) => id === entry.id,
  );
  return missing
    ? { state: missing.problem, produced, because: missing.because }
    : { state: 'produced', produced, because: null };
}
