import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../core/clock.ts';
import { CountersignError } from '../../../core/errors.ts';
import type { Queue } from '../../../ports/queue.ts';
import type { NewDelivery, Storage } from '../../../ports/storage.ts';
import { type Facts, queueKey } from './facts.ts';

/** A webhook that has passed the door: its signature is right and its body is a JSON object. */
export interface Webhook {
  guid: string;
  event: string;
  /** The raw body as it was signed. */
  body: Uint8Array;
  /** What is read of the parsed body, which nobody keeps: it would wait for the disk with us, and be copied by the garbage collector. */
  facts: Facts;
}

/** `duplicate`: the same GUID is recorded already and need not run again. */
export type Receipt = 'recorded' | 'duplicate';

export interface Intake {
  /** Resolves once the webhook is recorded durably; rejects when it could not be. */
  accept(webhook: Webhook): Promise<Receipt>;
}

export interface IntakeParts {
  storage: Pick<Storage, 'transaction'>;
  queue: Pick<Queue, 'wake'>;
  clock: Clock;
  /** How many deliveries one transaction holds at most. */
  maxGroup?: number;
}

interface Waiting {
  delivery: NewDelivery;
  resolve(receipt: Receipt): void;
  reject(error: unknown): void;
}

/**
 * A group is complete when so many turns of the event loop in a row have brought nothing. Senders that were answered
 * together come back together, but not within one turn: waiting for one turn only, a third of the groups of 16 senders were
 * of one delivery, each with a sync to disk of its own. A lone webhook waits for some microseconds.
 */
const QUIET_TURNS = 3;
/** So that a stream that never pauses is answered all the same. */
const MOST_TURNS = 50;

/**
 * Group commit: webhooks that arrive together, or while a transaction is under way, are recorded in one transaction,
 * then answered; their jobs are the queue's to make (`new-jobs.ts`). Each answer still waits for a sync to disk, but the sync is
 * shared. Rejected: one
 * transaction for each webhook, which is measured in `bench/intake`, and answering before the commit, by which a crash would lose
 * a delivery that GitHub takes for delivered.
 */
export function createIntake({ storage, queue, clock, maxGroup = 256 }: IntakeParts): Intake {
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
    for (let turn = 0, seen = 0; turn < MOST_TURNS && quiet < QUIET_TURNS && seen < maxGroup; turn++) {
      seen = waiting.length;
      await nextTurn();
      quiet = waiting.length > seen ? 0 : quiet + 1;
    }
  }

  async function commit(group: readonly Waiting[]): Promise<void> {
    try {
      const fresh = await record(group);
      queue.wake();
      for (const { delivery, resolve } of group) {
        // A GUID that came twice in one group is fresh once.
        resolve(fresh.delete(delivery.guid) ? 'recorded' : 'duplicate');
      }
    } catch (error) {
      const [only, ...others] = group;
      if (only && others.length === 0) only.reject(error);
      // It would not take any of them, and asking for each would keep the last one waiting for longer than GitHub does.
      else if (isUnavailable(error)) for (const one of group) one.reject(error);
      // One that cannot be recorded must not refuse its neighbours. Recording again is safe: GUIDs are unique.
      else for (const one of group) await commit([one]);
    }
  }

  /** Records the group and returns the GUIDs that were fresh. */
  async function record(group: readonly Waiting[]): Promise<Set<string>> {
    const deliveries = group.map(({ delivery }) => delivery);
    const recorded = await storage.transaction((tx) => tx.deliveries.record(deliveries));
    return new Set(recorded.filter(({ fresh }) => fresh).map(({ guid }) => guid));
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
