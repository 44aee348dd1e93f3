export const LONG = process.env.COUNTERSIGN_LONG === '1';
/** The seed of everything that is drawn; set COUNTERSIGN_SEED to repeat a failure. */
export const SEED = Number(process.env.COUNTERSIGN_SEED ?? Date.now() % 1_000_000);
