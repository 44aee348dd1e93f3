/**
 * How much work something is, on any machine. Elapsed time depends on the machine and on what else runs on it, so tests measure
 * processor time of this thread, in units of what this same process needs for a fixed piece of work.
 */

/** One unit, about a millisecond of a machine of 2026. */
const BYTES = new Uint8Array(1_000_000);
/** Some kernels count a thread's processor time in ticks of 4 ms, so many units are measured at once. */
const UNITS_AT_ONCE = 25;
/** The cheapest of several tries counts: the engine compiles as it runs, and other work takes the caches. */
const TRIES = 5;

let unitCost: number | undefined;

/**
 * Runs it, and runs it again while it is too much work.
 * @param most In units. Give a few times what the work takes; the errors that it must detect are far more than a factor of two.
 * @returns what it returned the first time.
 * @throws Error when each of five tries was more.
 */
export function withinEffort<T>(most: number, work: () => T): T {
  const first = measured(work);
  const efforts = [first.cost / costOfUnit()];
  while (Math.min(...efforts) > most && efforts.length < TRIES) {
    const { cost } = measured(work);
    efforts.push(cost / costOfUnitNow());
  }
  if (Math.min(...efforts) <= most) return first.result;
  throw new Error(`at most ${most} units of work are allowed, it took ${efforts.map(Math.round).join(', ')}`);
}

/** The same for asynchronous work. It is tried once, and everything else that this thread does meanwhile counts too. */
export async function withinEffortAsync<T>(most: number, work: () => Promise<T>): Promise<T> {
  const before = process.threadCpuUsage();
  const result = await work();
  const effort = costSince(before) / costOfUnit();
  if (effort <= most) return result;
  throw new Error(`at most ${most} units of work are allowed, it took ${Math.round(effort)}`);
}

function costOfUnit(): number {
  unitCost ??= costOfUnitNow();
  return unitCost;
}

function costOfUnitNow(): number {
  const some = () => {
    for (let unit = 0; unit < UNITS_AT_ONCE; unit++) readThrough(BYTES);
  };
  return Math.min(...[1, 2, 3].map(() => measured(some).cost)) / UNITS_AT_ONCE;
}

function readThrough(bytes: Uint8Array): number {
  let sum = 0;
  // By index, because engines differ in what they make of an iterator.
  for (let index = 0; index < bytes.length; index++) sum = (Math.imul(sum, 31) + (bytes[index] ?? 0)) | 0;
  return sum;
}

/** In microseconds of this thread, so that neither other threads nor other processes count. */
function measured<T>(work: () => T): { result: T; cost: number } {
  const before = process.threadCpuUsage();
  const result = work();
  return { result, cost: costSince(before) };
}

function costSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}
