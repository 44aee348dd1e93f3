/** Preloaded into an app whose machine has a wrong clock, by so many milliseconds. */
const aheadMs = Number(process.env.COUNTERSIGN_CLOCK_AHEAD_MS ?? 0);
const RealDate = Date;

globalThis.Date = class extends RealDate {
  constructor(...given: ConstructorParameters<DateConstructor> | []) {
    if (given.length === 0) super(RealDate.now() + aheadMs);
    else super(...given);
  }
  static override now(): number {
    return RealDate.now() + aheadMs;
  }
} as DateConstructor;
