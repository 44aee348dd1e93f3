const long = process.env.COUNTERSIGN_LONG === '1';

/** What the properties of rules are drawn from; `COUNTERSIGN_SEED` repeats an earlier draw. */
export const seed = Number(process.env.COUNTERSIGN_SEED ?? (long ? Date.now() % 2 ** 31 : 4));
export const numRuns = long ? 50_000 : 300;
