import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    propertySeed: number;
  }
}

/** Once for all tests: chooses the seed of properties without a seed of their own, or takes `COUNTERSIGN_SEED`, and prints it. */
export default function drawSeed({ provide }: TestProject): void {
  const seed = Number(process.env.COUNTERSIGN_SEED ?? Date.now() % 2 ** 31);
  provide('propertySeed', seed);
  process.stdout.write(`Properties without a seed of their own: COUNTERSIGN_SEED=${seed}\n`);
}
