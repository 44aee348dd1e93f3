import { z } from 'zod';
import { unreachable } from '../../core/errors.ts';
import { type Event, eventSchema } from '../event/event.ts';

const eventKindSchema = z.enum(eventSchema.options.map(({ shape }) => shape.kind.value));

/**
 * Who or what changes the status of a run, an invocation or a session; stored with every transition. People
 * are stored by their login at that time, the name by which later readers know them.
 */
export const actorSchema = z.discriminatedUnion('kind', [
  /** A person asked for it on GitHub, by a command or a button. */
  z.strictObject({ kind: z.literal('person'), login: z.string() }),
  /** Something happened. `delivery` is the id of the webhook that reported it; `null` if none did. */
  z.strictObject({ kind: z.literal('event'), event: eventKindSchema, delivery: z.int().nullable() }),
  /** A session reported its result. */
  z.strictObject({ kind: z.literal('session'), id: z.string() }),
  /** A wait or a deadline ended. */
  z.strictObject({ kind: z.literal('time') }),
  /** The operator asked for it on the command line. */
  z.strictObject({ kind: z.literal('operator') }),
  /** Countersign itself, after a session's retries were exhausted. */
  z.strictObject({ kind: z.literal('app') }),
]);
export type Actor = z.infer<typeof actorSchema>;

/**
 * The actor's name in events and reasons for commands from the command line. An operator need not have an
 * account on GitHub, and the system's user name is private. It contains a space, so it cannot be a login.
 */
export const OPERATOR = 'an operator';

/** The actor of an event: the person who asked for something, or the event itself. */
export function actorOf(event: Event, deliveryId: number | null): Actor {
  switch (event.kind) {
    case 'command.issued':
    case 'manual.fired':
    case 'run.requested':
    case 'fire.requested':
      return event.actor === OPERATOR ? { kind: 'operator' } : { kind: 'person', login: event.actor };
    case 'pr.opened':
    case 'pr.updated':
    case 'pr.merged':
    case 'pr.closed':
    case 'pr.labeled':
    case 'pr.review_submitted':
    case 'issue.created':
    case 'issue.labeled':
    case 'release.published':
    case 'invocation.completed':
    case 'schedule.fired':
    case 'file.changed':
    case 'ci.changed':
    case 'group.requested':
    case 'group.destroyed':
    case 'approval.changed':
    case 'thread.replied':
    case 'installation.gone':
    case 'installation.back':
    case 'repository.gone':
    case 'repository.renamed':
      return { kind: 'event', event: event.kind, delivery: deliveryId };
    default:
      return unreachable(event);
  }
}
