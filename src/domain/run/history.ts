import type { ReasonCode } from '../explanation/reason.ts';
import type { Actor } from './actor.ts';
import type { RunStatus, SessionStatus, StepStatus } from './run.ts';

/** A change of a status, as it is kept. */
export interface PastTransition {
  subject: { kind: 'run' | 'invocation' | 'session'; id: string };
  from: RunStatus | StepStatus | SessionStatus;
  to: RunStatus | StepStatus | SessionStatus;
  reason: ReasonCode | null;
  /** `null` for what was written before this was kept. */
  by: Actor | null;
  at: Date;
}
