import { z } from 'zod';
import { unreachable } from '../../core/errors.ts';
import { type Event, eventSchema } from '../event/event.ts';

const eventKindSchema = z.enum(eventSchema.options.map(({ shape }) => shape.kind.value));

/**
 * Who or what moves a run, an invocation or a session; kept with every transition. People are kept by the login they had,
 * as whoever reads the history later knows them by.
 */
export const actorSchema = z.discriminatedUnion('kind', [
  /** Somebody on GitHub asked for it, by a command or a button. */
  z.strictObject({ kind: z.literal('person'), login: z.string() }),
  /** Something happened; `delivery` is the number of the webhook that told of it, and `null` when none did. */
  z.strictObject({ kind: z.literal('event'), event: eventKindSchema, delivery: z.int().nullable() }),
  /** A session said what it came to. */
  z.strictObject({ kind: z.literal('session'), id: z.string() }),
  /** A wait or a deadline was over. */
  z.strictObject({ kind: z.literal('time') }),
  /** Whoever holds the machine asked for it, from the command line. */
  z.strictObject({ kind: z.literal('operator') }),
  /** Countersign itself, which gave up on a session. */
  z.strictObject({ kind: z.literal('app') }),
]);
export type Actor = z.infer<typeof actorSchema>;

/**
 * How events and reasons name who acts from the command line. Whoever has the database need have no name on GitHub, and the
 * system's user name is nobody's business there. The space keeps it from being anybody's login.
 */
export const OPERATOR = 'an operator';

/** The delivery that an event was read from. */
export interface Cause {
  deliveryId: number;
  /** When GitHub sent the delivery for the first time, as far as that is known; else when it came. */
  sentAt: Date;
  /** Nothing of the delivery is left to be dealt with after the event. */
  endsDelivery: boolean;
}

/** On whose account an event moves runs: a person's who asked for something, or its own. */
export function actorOf(event: Event, deliveryId: number | null): Actor {
  switch (event.kind) {
    case 'command.issued':
    case 'manual.fired':
      return event.actor === OPERATOR ? { kind: 'operator' } : { kind: 'person', login: event.actor };
    case 'pr.opened':
    case 'pr.updated':
    case 'pr.merged':
    case 'pr.closed':
    case 'issue.created':
    case 'file.changed':
    case 'ci.changed':
    case 'group.requested':
    case 'group.destroyed':
    case 'approval.changed':
    case 'installation.gone':
    case 'installation.back':
    case 'repository.gone':
    case 'repository.renamed':
      return { kind: 'event', event: event.kind, delivery: deliveryId };
    default:
      return unreachable(event);
  }
}
