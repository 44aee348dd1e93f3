import type { Clock } from '../../../core/clock.ts';
import { messageOf, unreachable } from '../../../core/errors.ts';
import type { Log } from '../../../core/log.ts';
import type { Event, EventOf } from '../../../domain/event/event.ts';
import type { GitHub, Urgency } from '../../../ports/github.ts';
import type { Cause, JobResult, JobRunner } from '../../../ports/jobs.ts';
import type { Delivery, ReadTx, Storage, Tx } from '../../../ports/storage.ts';
import { type Reading, runBehind, toEvents } from '../event/from-webhook.ts';
import { pushOf } from '../event/push-of.ts';

/** What a delivery says. Its body is not kept while events are worked on. */
interface Prepared {
  delivery: Omit<Delivery, 'body'>;
  read: Reading;
  push: ReturnType<typeof pushOf>;
}

/** What a recorded delivery says. */
export async function readDelivery(
  { event, body }: Pick<Delivery, 'event' | 'body'>,
  { appId, runs }: { appId: number; runs: Pick<ReadTx['runs'], 'get'> },
): Promise<{ read: Reading; payload: unknown }> {
  const payload: unknown = JSON.parse(new TextDecoder().decode(body));
  const runId = runBehind(event, payload, appId);
  const run = runId === undefined ? undefined : await runs.get(runId);
  return { read: toEvents(event, payload, { appId, run }), payload };
}

/** Turns a recorded delivery into events and passes each to the engine. */
export function deliveryJobs(deps: {
  storage: Storage;
  github: Pick<GitHub, 'turn'>;
  appId: number;
  clock: Clock;
  log: Log;
  onEvent(event: Event, cause: Cause): Promise<void>;
  /** @returns whether it handled the event; otherwise nothing was written */
  onEventWithin(tx: Tx, event: EventOf<'pr.merged' | 'ci.changed'>, deliveryId: number): Promise<boolean>;
}): JobRunner<'delivery', Prepared> {
  const { storage, github, appId, clock, log, onEvent, onEventWithin } = deps;

  async function prepare(tx: ReadTx, deliveryId: number): Promise<Prepared | undefined> {
    const delivery = await tx.deliveries.get(deliveryId);
    if (!delivery || delivery.status === 'done') return undefined;
    const { body, ...about } = delivery;
    const { read, payload } = await readDelivery(delivery, { appId, runs: tx.runs });
    return { delivery: about, read, push: pushOf(delivery.event, payload) };
  }

  async function attempt(deliveryId: number, prepared: Prepared | undefined): Promise<JobResult> {
    const found = prepared ?? (await prepare(storage.read, deliveryId));
    if (!found) return { kind: 'done' };
    const { delivery, read, push } = found;
    const fields = fieldsOf(delivery);
    switch (read.kind) {
      case 'events': {
        if (push) await storage.transaction((tx) => tx.pushes.record(push, clock.now()));
        const later = turnOf(delivery.guid, read.events);
        if (later) return { kind: 'defer', at: later };
        let isDone = false;
        const end = async (tx: Tx) => {
          await endAs(tx, deliveryId, 'done');
          isDone = true;
        };
        for (const [index, event] of read.events.entries()) {
          const sentAt = isButton(event) ? await firstSent(delivery) : delivery.receivedAt;
          const isLast = index === read.events.length - 1;
          await onEvent(event, { deliveryId, sentAt, ...(isLast && { end }) });
        }
        if (!isDone) await mark(deliveryId, 'done');
        log.debug({ ...fields, events: read.events.map((event) => event.kind) }, 'delivery is done');
        return { kind: 'done' };
      }
      case 'ignored':
        await storage.transaction((tx) => ignore(tx, deliveryId, fields, read.because));
        return { kind: 'done' };
      case 'unreadable':
        await mark(deliveryId, 'failed', read.because);
        log.warn({ ...fields, because: read.because }, 'delivery cannot be read');
        return { kind: 'done' };
      default:
        return unreachable(read);
    }
  }

  async function ignore(tx: Tx, id: number, fields: object, because: string): Promise<void> {
    await endAs(tx, id, 'done');
    log.debug({ ...fields, because }, 'delivery is not for this app');
  }

  /** When the delivery should be processed instead, if its installation has no points left now. */
  function turnOf(job: string, [event]: readonly Event[]): Date | undefined {
    return event && github.turn(event.installation_id, { job, urgency: urgencyOf(event), points: POINTS });
  }

  /**
   * The time of GitHub's first attempt. A missed delivery that was requested again was first sent earlier.
   */
  async function firstSent({ guid, receivedAt }: Prepared['delivery']): Promise<Date> {
    const missed = await storage.read.missedDeliveries.get(guid);
    return missed && missed.deliveredAt < receivedAt ? missed.deliveredAt : receivedAt;
  }

  /** In the transaction that ends the job, so that the two never disagree. */
  async function endAs(tx: Tx, id: number, status: 'done' | 'failed', error?: string): Promise<void> {
    await tx.deliveries.setStatus(id, status, clock.now(), error);
    tx.endJob();
  }

  function mark(id: number, status: 'done' | 'failed', error?: string): Promise<void> {
    return storage.transaction((tx) => endAs(tx, id, status, error));
  }

  /** So that people see which deliveries were tried and are not done. */
  async function process(deliveryId: number, prepared: Prepared | undefined): Promise<JobResult> {
    try {
      return await attempt(deliveryId, prepared);
    } catch (error) {
      const tried = storage.transaction((tx) =>
        tx.deliveries.setStatus(deliveryId, 'processing', clock.now()),
      );
      // The job fails for the first error, whatever becomes of this.
      await tried.catch(() => undefined);
      throw error;
    }
  }

  return {
    run: ({ deliveryId }, _signal, prepared) => process(deliveryId, prepared),
    prepare: (tx, { deliveryId }) => prepare(tx, deliveryId),
    /** Most deliveries are about the app's own writes, or about checks for which something waits at most. */
    finish({ deliveryId }, prepared) {
      if (!prepared) return undefined;
      const { delivery, read } = prepared;
      if (read.kind === 'ignored')
        return async (tx) => {
          await ignore(tx, deliveryId, fieldsOf(delivery), read.because);
          return true;
        };
      const [event, another] = read.kind === 'events' ? read.events : [];
      if (another || (event?.kind !== 'pr.merged' && event?.kind !== 'ci.changed')) return undefined;
      return async (tx) => {
        if (!(await onEventWithin(tx, event, deliveryId))) return false;
        await endAs(tx, deliveryId, 'done');
        log.debug({ ...fieldsOf(delivery), events: [event.kind] }, 'delivery is done');
        return true;
      };
    },
    /** Marked as failed, so that a redelivery is processed again. */
    async onRetriesExhausted({ deliveryId }, error) {
      await mark(deliveryId, 'failed', messageOf(error));
      log.error({ delivery: deliveryId, err: error }, 'gave up on a delivery');
    },
  };
}

function fieldsOf({ guid, event, action }: Pick<Delivery, 'guid' | 'event' | 'action'>): object {
  return { delivery: guid, event, action };
}

/** Roughly what processing costs of the installation's points. */
const POINTS = 8;

/** A person waits for a command's reply, and nobody for what follows a merge. */
function urgencyOf({ kind }: Event): Urgency {
  if (kind === 'command.issued' || kind === 'thread.replied') return 'person';
  return kind === 'pr.merged' || kind === 'pr.closed' || kind === 'file.changed' ? 'background' : 'run';
}

function isButton(event: Event): boolean {
  return event.kind === 'command.issued' && event.via.kind === 'button';
}
