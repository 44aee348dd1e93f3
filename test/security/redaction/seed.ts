export const LONG = process.env.COUNTERSIGN_LONG === '1';
/** Of everything drawn by lot; set COUNTERSIGN_SEED to see a failure again. */
export const SEED = Number(process.env.COUNTERSIGN_SEED ?? Date.now() % 1_000_000);
