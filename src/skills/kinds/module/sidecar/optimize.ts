import { AxBootstrapFewShot } from '@ax-llm/ax';
import type { Json } from '../../../../core/canonical.ts';
import { modelOf } from './model.ts';
import { build, type Values } from './program.ts';
import type { Example, Program } from './protocol.ts';
import { score } from './score.ts';

const RIGHT = 1;

interface Optimization {
  program: Program;
  examples: readonly Example[];
  seed: number;
  mostDemos: number;
}

/**
 * Answers of the module that matched everything expected: they show the model a right answer, including the
 * reasoning. Found by the engine's few-shot bootstrap, in one round over the examples.
 */
export async function optimize(
  task: number,
  { program, examples, seed, mostDemos }: Optimization,
): Promise<Json> {
  const optimizer = new AxBootstrapFewShot({
    studentAI: modelOf(task),
    verbose: false,
    options: {
      maxRounds: 1,
      maxDemos: mostDemos,
      maxExamples: examples.length,
      qualityThreshold: RIGHT,
      verboseMode: false,
    },
  });
  const rows = examples.map(({ input, expected }) => ({ ...expected, ...input }));
  const expectedOf = new Map(rows.map((row, index) => [row, examples[index]?.expected ?? {}]));
  let right = 0;
  const metric = ({ prediction, example }: { prediction: unknown; example: unknown }) => {
    const scored = score(expectedOf.get(example as Values) ?? {}, prediction as Values);
    if (scored === RIGHT) right += 1;
    return scored;
  };
  const random = Math.random;
  // The engine shuffles with it, and equal seeds must give equal demonstrations.
  Math.random = seeded(seed);
  try {
    const { demos = [] } = await optimizer.compile(build(task, program), rows, metric);
    return demos.flatMap(({ traces }) => traces as unknown as Values[]).slice(0, mostDemos);
  } catch (error) {
    // The engine reports an empty result as an error.
    if (right > 0) throw error;
    return [];
  } finally {
    Math.random = random;
  }
}

/** Mulberry32: small, and the same on every platform. */
function seeded(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
