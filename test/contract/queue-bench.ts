import { afterEach, beforeEach } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import type { Job } from '../../src/ports/jobs.ts';
import type { JobHandler, Queue } from '../../src/ports/queue.ts';
import type { Storage } from '../../src/ports/storage.ts';
import type { ManualClock } from '../support/clock.ts';
import { type OpenDatabase, useDatabase } from '../support/database.ts';
import { everyKind } from './every-kind.ts';
import { rawJob } from './raw-job.ts';

/** The options of a queue under test; it tries each job three times, and its leases last `leaseMs`. */
export interface QueueSetup {
  storage: Storage;
  clock: ManualClock;
  log: typeof silentLog;
  concurrency: number;
  reviews: number;
  leaseMs: number;
  pollMs: number;
  maxAttempts: number;
  random: () => number;
}

export type CreateQueue = (setup: QueueSetup) => Queue;

/** A queue on a fresh database for each test. Time moves only when a test moves it. */
export class QueueBench {
  readonly #db: ReturnType<typeof useDatabase>;
  readonly #create: CreateQueue;
  readonly #made: Queue[] = [];
  queue: Queue;
  retriesExhausted: { job: Job; error: unknown }[] = [];

  constructor(db: ReturnType<typeof useDatabase>, create: CreateQueue) {
    this.#db = db;
    this.#create = create;
    this.queue = this.make();
  }

  get storage(): Storage {
    return this.#db.storage;
  }

  get clock(): ManualClock {
    return this.#db.clock;
  }

  /** Another queue on the same database, as another process would have. */
  make(over: Partial<QueueSetup> = {}): Queue {
    const queue = this.#create({
      storage: this.storage,
      clock: this.clock,
      log: silentLog,
      concurrency: 4,
      reviews: 4,
      leaseMs: 30_000,
      pollMs: 20,
      maxAttempts: 3,
      random: () => 0,
      ...over,
    });
    this.#made.push(queue);
    return queue;
  }

  /** Starts the queue with one handler for all kinds. */
  start(handler: JobHandler, queue = this.queue): void {
    queue.start({
      handlers: everyKind(handler),
      onRetriesExhausted: async (job, error) => {
        this.retriesExhausted.push({ job, error });
      },
    });
  }

  enqueue(key: string, over: Partial<Parameters<typeof rawJob>[0]> = {}): Promise<void> {
    return this.storage.transaction((tx) =>
      this.queue.enqueue(tx, rawJob({ kind: 'wake', key, payload: { key }, ...over })),
    );
  }

  inMs(ms: number): Date {
    return new Date(this.clock.now().getTime() + ms);
  }

  async moveOn(ms: number): Promise<void> {
    this.clock.advance(ms);
    this.queue.wake();
    await this.queue.idle();
  }

  async stop(): Promise<void> {
    for (const queue of this.#made) await queue.stop(0);
  }
}

/** The bench of the running test. */
export function useQueueBench(open: OpenDatabase, create: CreateQueue): () => QueueBench {
  const db = useDatabase(open);
  let bench: QueueBench;
  beforeEach(() => {
    bench = new QueueBench(db, create);
  });
  afterEach(() => bench.stop());
  return () => bench;
}
