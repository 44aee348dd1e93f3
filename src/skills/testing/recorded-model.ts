import type { Json } from '../../core/canonical.ts';
import { judge } from '../../engine/models/judge.ts';
import type { Model } from '../../ports/model.ts';

const SPENT = { calls: 1, tokens: null, cost: null };

/** A model of a case. */
export interface RecordedModel extends Model {
  /** How many answers nobody has asked for yet. */
  left(): number;
}

/** A model that gives a case's answers in turn. One that does not have the shape that was asked for is refused, as a real one's is. */
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
