import type { StepTime } from '../../ports/operations.ts';

/** How long a step took, over several runs. */
export interface StepFigures {
  id: string;
  runs: number;
  medianMs: number;
  p95Ms: number;
}

/** In the order of the steps. */
export function stepFigures(times: readonly StepTime[]): StepFigures[] {
  return [...Map.groupBy(times, ({ stepId }) => stepId)]
    .toSorted(([, [one]], [, [other]]) => (one?.index ?? 0) - (other?.index ?? 0))
    .map(([id, own]) => {
      const sorted = own.map(({ ms }) => ms).toSorted((a, b) => a - b);
      return { id, runs: sorted.length, medianMs: quantile(sorted, 0.5), p95Ms: quantile(sorted, 0.95) };
    });
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? 0;
}
