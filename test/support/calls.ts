import { Session } from 'node:inspector';

/**
 * Counts how often functions of `src/` are called, so that a test can show that work does not grow with something, on any
 * machine and beside any other work. Native functions are not counted, but what they call back is.
 */
export function countCalls(): { taken(): number; mostCalled(): string[]; stop(): void } {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  let names: string[] = [];
  return {
    /** The calls since the last time. */
    taken() {
      let calls = 0;
      const counted: [string, number][] = [];
      // A session of the same thread answers before `post` returns.
      session.post('Profiler.takePreciseCoverage', (error, coverage) => {
        if (error) throw error;
        for (const { url, functions } of coverage.result.filter(({ url }) => url.includes('/src/'))) {
          if (url.includes('/node_modules/')) continue;
          for (const { functionName, ranges } of functions) {
            const count = ranges[0]?.count ?? 0;
            calls += count;
            counted.push([`${url.split('/src/').at(-1)} ${functionName}`, count]);
          }
        }
      });
      counted.sort(([, one], [, other]) => other - one);
      names = counted.slice(0, 10).map(([name, count]) => `${count} ${name}`);
      return calls;
    },
    /** The functions that were called most in what was last taken, for a message. */
    mostCalled: () => names,
    stop() {
      session.post('Profiler.stopPreciseCoverage');
      session.disconnect();
    },
  };
}
