import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../core/clock.ts';
import { CountersignError } from '../../../core/errors.ts';
import type { Queue } from '../../../ports/queue.ts';
import type { NewDelivery, Storage } from '../../../ports/storage.ts';
import { type DeliveryFacts, queueKey } from './facts.ts';
import { recordWithJobs } from './new-jobs.ts';

/** A verified webhook: its signature is valid and its body is a JSON object. */
export interface Webhook {
  guid: string;
  event: string;
  /** The raw bytes that were signed. */
  body: Uint8Array;
  /**
   * Read from the parsed body. The parsed body itself is dropped: keeping it until the commit would make the
   * garbage collector copy it.
   */
  facts: DeliveryFacts;
}

/** `duplicate`: this GUID is already recorded and does not run again. */
export type Receipt = 'recorded' | 'duplicate';

export interface Intake {
  /** Resolves once the webhook is stored durably. Rejects if it cannot be. */
  accept(webhook: Webhook): Promise<Receipt>;
}

/** Where deliveries are recorded. */
export interface Recorder {
  /**
   * Records all of them durably, or rejects.
   * @returns the GUIDs that were new, as far as the place knows
   */
  record(deliveries: readonly NewDelivery[]): Promise<Set<string>>;
}

/** Records deliveries in the database itself, and tells the queue if it must create their jobs. */
export function recordIn(
  storage: Pick<Storage, 'transaction'>,
  queue: Pick<Queue, 'enqueue' | 'hasRoomFor' | 'wake'>,
): Recorder {
  return {
    async record(deliveries) {
      const { recorded, areWaiting } = await storage.transaction((tx) =>
        recordWithJobs(tx, queue, deliveries),
      );
      if (areWaiting) queue.wake();
      return new Set(recorded.filter(({ fresh }) => fresh).map(({ guid }) => guid));
    },
  };
}

export interface IntakeParts {
  recorder: Recorder;
  /** Called after each commit. */
  onRecorded?(): void;
  clock: Clock;
  /** The most deliveries in one transaction. */
  maxGroup?: number;
}

interface Waiting {
  delivery: NewDelivery;
  resolve(receipt: Receipt): void;
  reject(error: unknown): void;
}

/**
 * A group is complete after this many turns of the event loop without a new webhook. Senders that were
 * answered together send again together, but spread over several turns. With one turn, a third of the groups
 * of 16 senders held a single delivery, each with its own sync to disk. A lone webhook waits only some
 * microseconds.
 */
const QUIET_TURNS = 3;
/** Ends a group even if webhooks arrive without a pause. */
const MAX_TURNS = 50;

/**
 * Group commit: webhooks that arrive together, or during a transaction, share the next transaction and are
 * then answered. Each answer still waits for a sync to disk, but they share it.
 *
 * Rejected: one transaction per webhook (measured in `bench/intake`), and answering before the commit. After
 * a crash, the latter would lose a delivery that GitHub regards as delivered.
 */
export function createIntake({ recorder, onRecorded, clock, maxGroup = 256 }: IntakeParts): Intake {
  let waiting: Waiting[] = [];
  let busy = false;

  async function commitAll(): Promise<void> {
    while (waiting.length > 0) {
      await gather();
      const group = waiting.slice(0, maxGroup);
      waiting = waiting.slice(maxGroup);
      await commit(group);
    }
    busy = false;
  }

  async function gather(): Promise<void> {
    let quiet = 0;
    for (let turn = 0, seen = 0; turn < MAX_TURNS && quiet < QUIET_TURNS && seen < maxGroup; turn++) {
      seen = waiting.length;
      await nextTurn();
      quiet = waiting.length > seen ? 0 : quiet + 1;
    }
  }

  async function commit(group: readonly Waiting[]): Promise<void> {
    try {
      const fresh = await recorder.record(group.map(({ delivery }) => delivery));
      onRecorded?.();
      for (const { delivery, resolve } of group) {
        // If a GUID occurs twice in a group, only the first is new.
        resolve(fresh.delete(delivery.guid) ? 'recorded' : 'duplicate');
      }
    } catch (error) {
      const [only, ...others] = group;
      if (only && others.length === 0) only.reject(error);
      // Storage would refuse each of them. Trying one by one would keep the last sender waiting past GitHub's
      // time limit.
      else if (isUnavailable(error)) for (const one of group) one.reject(error);
      // A delivery that cannot be recorded must not fail the others. Recording again is safe because GUIDs
      // are unique.
      else for (const one of group) await commit([one]);
    }
  }

  return {
    accept({ guid, event, body, facts }) {
      return new Promise((resolve, reject) => {
        const { action, installationId } = facts;
        const receivedAt = clock.now();
        const delivery = {
          guid,
          event,
          action,
          installationId,
          body,
          receivedAt,
          queueKey: queueKey(facts, guid),
        };
        waiting.push({ delivery, resolve, reject });
        if (busy) return;
        busy = true;
        void commitAll();
      });
    },
  };
}

function isUnavailable(error: unknown): boolean {
  return error instanceof CountersignError && error.code === 'storage.unavailable';
}
