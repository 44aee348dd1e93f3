/**
 * Loaded before everything else of a process, it moves that process's time by the milliseconds in `COUNTERSIGN_BENCH_LATER`, so that
 * nothing in a database of a test's clock is due long since.
 */
const later = Number(process.env.COUNTERSIGN_BENCH_LATER);
const RealDate = Date;

class ShiftedDate extends RealDate {
  constructor(...given: [] | [string | number | Date]) {
    super(given.length === 0 ? RealDate.now() + later : given[0]);
  }

  static override now(): number {
    return RealDate.now() + later;
  }
}
globalThis.Date = ShiftedDate as DateConstructor;
