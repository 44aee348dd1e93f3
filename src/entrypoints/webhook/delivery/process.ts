import type { Clock } from '../../../core/clock.ts';
import { messageOf, unreachable } from '../../../core/errors.ts';
import type { Log } from '../../../core/log.ts';
import type { Event } from '../../../domain/event/event.ts';
import type { Cause } from '../../../domain/run/actor.ts';
import type { JobResult, JobRunner } from '../../../ports/jobs.ts';
import type { Delivery, Storage } from '../../../ports/storage.ts';
import { runBehind, toEvents } from '../event/from-webhook.ts';
import { pushOf } from '../event/push-of.ts';

/** Turns a recorded delivery into events and passes each to the engine. */
export function deliveryJobs(deps: {
  storage: Storage;
  appId: number;
  clock: Clock;
  log: Log;
  onEvent(event: Event, cause: Cause): Promise<void>;
}): JobRunner<'delivery'> {
  const { storage, appId, clock, log, onEvent } = deps;

  async function process(deliveryId: number): Promise<JobResult> {
    const delivery = await storage.read.deliveries.get(deliveryId);
    if (!delivery || delivery.status === 'done') return { kind: 'done' };
    const fields = { delivery: delivery.guid, event: delivery.event, action: delivery.action };
    const payload: unknown = JSON.parse(new TextDecoder().decode(delivery.body));
    const runId = runBehind(delivery.event, payload, appId);
    const run = runId === undefined ? undefined : await storage.read.runs.get(runId);
    const read = toEvents(delivery.event, payload, { appId, run });
    switch (read.kind) {
      case 'events':
        // A single commit suffices for deliveries that this app ignores. On a busy installation, that is most
        // of them.
        await storage.transaction(async (tx) => {
          await tx.deliveries.setStatus(deliveryId, 'processing', clock.now());
          const push = pushOf(delivery.event, payload);
          if (push) await tx.pushes.record(push, clock.now());
        });
        for (const [index, event] of read.events.entries()) {
          const sentAt = isButton(event) ? await firstSent(delivery) : delivery.receivedAt;
          await onEvent(event, { deliveryId, sentAt, endsDelivery: index === read.events.length - 1 });
        }
        await mark(deliveryId, 'done');
        log.debug({ ...fields, events: read.events.map((event) => event.kind) }, 'delivery is done');
        return { kind: 'done' };
      case 'ignored':
        await mark(deliveryId, 'done');
        log.debug({ ...fields, because: read.because }, 'delivery is not for this app');
        return { kind: 'done' };
      case 'unreadable':
        await mark(deliveryId, 'failed', read.because);
        log.warn({ ...fields, because: read.because }, 'delivery cannot be read');
        return { kind: 'done' };
      default:
        return unreachable(read);
    }
  }

  /**
   * The time of GitHub's first attempt. A missed delivery that was requested again was first sent earlier.
   */
  async function firstSent({ guid, receivedAt }: Delivery): Promise<Date> {
    const missed = await storage.read.missedDeliveries.get(guid);
    return missed && missed.deliveredAt < receivedAt ? missed.deliveredAt : receivedAt;
  }

  function mark(id: number, status: 'done' | 'failed', error?: string): Promise<void> {
    return storage.transaction((tx) => tx.deliveries.setStatus(id, status, clock.now(), error));
  }

  return {
    run: ({ deliveryId }) => process(deliveryId),
    /** Marked as failed, so that a redelivery is processed again. */
    async onRetriesExhausted({ deliveryId }, error) {
      await mark(deliveryId, 'failed', messageOf(error));
      log.error({ delivery: deliveryId, err: error }, 'gave up on a delivery');
    },
  };
}

function isButton(event: Event): boolean {
  return event.kind === 'command.issued' && event.via.kind === 'button';
}
