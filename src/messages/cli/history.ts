import { z } from 'zod';
import { unreachable } from '../../core/errors.ts';
import { reasonCodeSchema } from '../../domain/explanation/reason.ts';
import { type Actor, actorOf, actorSchema, OPERATOR } from '../../domain/run/actor.ts';
import type { PastTransition } from '../../domain/run/history.ts';
import {
  RUN_STATUSES,
  type RunState,
  SESSION_STATUSES,
  type Session,
  STEP_STATUSES,
} from '../../domain/run/run.ts';
import { PLAIN, type Screen } from '../text/screen.ts';
import { runWithWritesSchema } from './run-json.ts';
import { table } from './table.ts';

const statusSchema = z.enum([...RUN_STATUSES, ...STEP_STATUSES, ...SESSION_STATUSES]);

/** One line of a run's history in the output of `--json`. Scripts rely on this shape. */
export const historyLineSchema = z.strictObject({
  at: z.iso.datetime(),
  what: z.enum(['run', 'step', 'session']),
  /** Of the run, of the session, or of the step's invocation. */
  id: z.string(),
  /** The step's id in the chain; `null` for the run. */
  step: z.string().nullable(),
  /**
   * The number of the session's attempt, from 1, and from 1 again when its step is rerun; `null` for other
   * lines.
   */
  attempt: z.int().nullable(),
  /** `null` at the start of the run. */
  from: statusSchema.nullable(),
  to: statusSchema,
  reason_code: reasonCodeSchema.nullable(),
  /** `null` in lines of older versions, which did not store it. */
  by: actorSchema.nullable(),
});
export type HistoryLine = z.infer<typeof historyLineSchema>;

export const runWithHistorySchema = runWithWritesSchema.extend({ history: z.array(historyLineSchema) });

/**
 * The history of a run, oldest first. Its beginning is no transition, so that line comes from the run itself.
 * @param past as the storage returns it, in order
 */
export function historyLines(
  { run, invocations }: RunState,
  sessions: readonly Session[],
  past: readonly PastTransition[],
): HistoryLine[] {
  const stepOf = new Map(invocations.map(({ id, stepId }) => [id, stepId]));
  const sessionOf = new Map(sessions.map((session) => [session.id, session]));

  function subject({ kind, id }: PastTransition['subject']): Pick<HistoryLine, 'what' | 'step' | 'attempt'> {
    switch (kind) {
      case 'run':
        return { what: 'run', step: null, attempt: null };
      case 'invocation':
        return { what: 'step', step: stepOf.get(id) ?? null, attempt: null };
      case 'session': {
        const session = sessionOf.get(id);
        const step = session && stepOf.get(session.invocationId);
        return { what: 'session', step: step ?? null, attempt: session?.attempt ?? null };
      }
      default:
        return unreachable(kind);
    }
  }

  const began: PastTransition['subject'] = { kind: 'run', id: run.id };
  return [
    {
      at: run.createdAt.toISOString(),
      id: run.id,
      ...subject(began),
      from: null,
      to: 'running',
      reason_code: null,
      by: actorOf(run.event, run.deliveryId),
    },
    ...past.map((line) => ({
      at: line.at.toISOString(),
      id: line.subject.id,
      ...subject(line.subject),
      from: line.from,
      to: line.to,
      reason_code: line.reason,
      by: line.by,
    })),
  ];
}

/** The lines as a table below a heading. */
export function historyText(lines: readonly HistoryLine[], screen: Screen = PLAIN): string {
  const rows = lines.map(({ at, from, to, reason_code, by, ...of }) => [
    at,
    subjectInWords(of),
    from === null ? `begins: ${to}` : `${from} → ${to}`,
    reason_code ?? '',
    by === null ? 'not recorded' : actorInWords(by),
  ]);
  return `History\n${table(['WHEN', 'WHAT', 'CHANGE', { heading: 'REASON', leftOut: 2 }, { heading: 'BY', leftOut: 1 }], rows, { screen })}`;
}

function subjectInWords({ what, id, step, attempt }: Pick<HistoryLine, 'what' | 'id' | 'step' | 'attempt'>) {
  switch (what) {
    case 'run':
      return 'run';
    case 'step':
      return step ?? id;
    case 'session':
      return `${step ?? id}, attempt ${attempt ?? '?'}`;
    default:
      return unreachable(what);
  }
}

export function actorInWords(actor: Actor): string {
  switch (actor.kind) {
    case 'person':
      return actor.login;
    case 'event':
      return actor.delivery === null ? actor.event : `${actor.event} (delivery ${actor.delivery})`;
    case 'session':
      return `session ${actor.id}`;
    case 'time':
      return 'time';
    case 'operator':
      return OPERATOR;
    case 'app':
      return 'Countersign itself';
    default:
      return unreachable(actor);
  }
}
