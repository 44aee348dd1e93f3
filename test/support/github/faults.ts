/** What goes wrong with a matching request. */
export type Fault =
  /** Answered like this, without being carried out. */
  | { status: number; headers?: Record<string, string>; body?: unknown }
  /** The connection is cut before anything is carried out. */
  | 'reset'
  /** Never answered. */
  | 'hang'
  /** Carried out and answered once this promise resolves. */
  | { until: Promise<unknown> }
  /** Carried out, but the connection is cut before the answer. */
  | { after: 'reset' }
  /** The first so many fields of the mutation are carried out, and then the connection is cut. */
  | { afterFields: number }
  /** The connection is cut at once; the request is carried out after so much time of the clock. */
  | { lateMs: number };

/** A request as far as faults know it. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  /** The fields of a mutation. */
  readonly mutates?: readonly string[];
}

export type FaultMatch = (request: Asked) => boolean;

/** Faults that wait for their requests; the first that matches decides. */
export class Faults {
  readonly #waiting: { match: FaultMatch; how: Fault; left: number }[] = [];

  /** @returns a function that removes the fault. */
  add(match: FaultMatch, how: Fault, times: number): () => void {
    const entry = { match, how, left: times };
    this.#waiting.push(entry);
    return () => {
      entry.left = 0;
    };
  }

  take(request: Asked): Fault | undefined {
    const entry = this.#next(request);
    if (!entry) return undefined;
    entry.left -= 1;
    return entry.how;
  }

  /** Whether the next such request fails. */
  awaits(request: Asked): boolean {
    return this.#next(request) !== undefined;
  }

  #next(request: Asked) {
    return this.#waiting.find(({ match, left }) => left > 0 && match(request));
  }
}
