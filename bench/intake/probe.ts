import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks the probes in turn until it gets "stop". It is a process of its own, because the one that plays GitHub has
 * a low priority, and its waiting would count as the app's.
 */
export interface ProbeOrder {
  origin: string;
  token: string;
}

/** The 50th and 99th percentile and the maximum of the answer times, in milliseconds, by path. */
export type Probed = Record<string, { p50Ms: number; p99Ms: number; maxMs: number }>;

/** Between two rounds, in milliseconds. */
const EVERY_MS = 20;

let isOver = false;
process.on('message', async (order: ProbeOrder | 'stop') => {
  if (order === 'stop') {
    isOver = true;
    return;
  }
  process.send?.(await probe(order));
  process.disconnect();
});

async function probe({ origin, token }: ProbeOrder): Promise<Probed> {
  const taken: Record<string, number[]> = { '/healthz': [], '/readyz': [], '/metrics': [] };
  while (!isOver) {
    for (const [path, times] of Object.entries(taken)) {
      const asked = performance.now();
      const response = await fetch(origin + path, { headers: { authorization: `Bearer ${token}` } });
      await response.text();
      if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
      times.push(performance.now() - asked);
    }
    await sleep(EVERY_MS);
  }
  return Object.fromEntries(
    Object.entries(taken).map(([path, times]) => {
      // The first one loads the client's own code.
      const sorted = times.slice(1).sort((a, b) => a - b);
      const at = (share: number) => Number((sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1));
      return [path, { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: Number((sorted.at(-1) ?? 0).toFixed(1)) }];
    }),
  );
}
