import type { Json } from '../../core/canonical.ts';
import { judge } from '../../engine/models/judge.ts';
import type { Model } from '../../ports/model.ts';

const SPENT = { calls: 1, tokens: null, cost: null };

/** The model of a case. */
export interface RecordedModel extends Model {
  /** The number of recorded answers that are unused. */
  left(): number;
}

/**
 * A model that returns a case's answers in order. An answer of the wrong shape is rejected, as for a real
 * model.
 */
export function recordedModel(answers: readonly Json[]): RecordedModel {
  const left = [...answers];
  return {
    left: () => left.length,
    name: { provider: 'openai-compatible', model: 'recorded' },
    async ask({ schema, signal }) {
      signal.throwIfAborted();
      const answer = left.shift();
      if (answer === undefined) {
        return { kind: 'failed', failure: { kind: 'empty' }, retryable: false, spent: SPENT };
      }
      const judged = judge(JSON.stringify(answer), schema);
      return judged.ok
        ? { kind: 'answered', value: judged.value, spent: SPENT }
        : { kind: 'failed', failure: judged.failure, retryable: false, spent: SPENT };
    },
  };
}
