/** The bytes to share: the next number to give out, and the number whose turn it is. */
export const WRITER_TURN_BYTES = 2 * Int32Array.BYTES_PER_ELEMENT;

const NEXT = 0;
const SERVED = 1;

/**
 * Lets the threads of one process write to the database in the order in which they asked, without blocking
 * their event loops. SQLite's own lock has no order: it is tried again after pauses, so a busy thread could
 * keep another one out, and `/readyz` could not tell a neighbour from another process that holds the lock.
 */
export interface WriterTurn {
  /** Resolves when it is this caller's turn, with the function that ends it. */
  take(): Promise<() => void>;
}

/** @param shared zeroed memory of `WRITER_TURN_BYTES` that all threads with a connection to the file share */
export function createWriterTurn(shared: SharedArrayBuffer): WriterTurn {
  const numbers = new Int32Array(shared);
  return {
    async take() {
      const own = Atomics.add(numbers, NEXT, 1);
      for (
        let served = Atomics.load(numbers, SERVED);
        served !== own;
        served = Atomics.load(numbers, SERVED)
      ) {
        await Atomics.waitAsync(numbers, SERVED, served).value;
      }
      let ended = false;
      return () => {
        if (ended) return;
        ended = true;
        Atomics.add(numbers, SERVED, 1);
        Atomics.notify(numbers, SERVED);
      };
    },
  };
}
