/** What goes wrong with a matching request. */
export type Fault =
  /** Answered so, without being done. */
  | { status: number; headers?: Record<string, string>; body?: unknown }
  /** The connection is cut before anything is done. */
  | 'reset'
  /** Never answered. */
  | 'hang'
  /** Done and answered once this has come. */
  | { until: Promise<unknown> }
  /** Done, but the connection is cut before the answer. */
  | { after: 'reset' }
  /** The connection is cut at once; done when so much time of the clock has passed. */
  | { lateMs: number };

export type FaultMatch = (request: { method: string; path: string }) => boolean;

/** Faults waiting for their requests; the first that matches decides. */
export class Faults {
  readonly #waiting: { match: FaultMatch; how: Fault; left: number }[] = [];

  /** @returns takes the fault back. */
  add(match: FaultMatch, how: Fault, times: number): () => void {
    const entry = { match, how, left: times };
    this.#waiting.push(entry);
    return () => {
      entry.left = 0;
    };
  }

  take(request: { method: string; path: string }): Fault | undefined {
    const entry = this.#waiting.find(({ match, left }) => left > 0 && match(request));
    if (!entry) return undefined;
    entry.left -= 1;
    return entry.how;
  }
}
