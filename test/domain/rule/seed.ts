const long = process.env.COUNTERSIGN_LONG === '1';

/** The seed of the properties of rules; `COUNTERSIGN_SEED` repeats an earlier run. */
export const seed = Number(process.env.COUNTERSIGN_SEED ?? (long ? Date.now() % 2 ** 31 : 4));
export const numRuns = long ? 50_000 : 300;
