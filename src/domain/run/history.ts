import type { ReasonCode } from '../explanation/reason.ts';
import type { Actor } from './actor.ts';
import type { RunStatus, SessionStatus, StepStatus } from './run.ts';

/** One stored change of a status. */
export interface PastTransition {
  subject: { kind: 'run' | 'invocation' | 'session'; id: string };
  from: RunStatus | StepStatus | SessionStatus;
  to: RunStatus | StepStatus | SessionStatus;
  reason: ReasonCode | null;
  /** `null` in rows from before it was stored. */
  by: Actor | null;
  at: Date;
}
