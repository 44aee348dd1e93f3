import type { Chain } from '../../../src/domain/chain/chain.ts';
import { type Reason, reason } from '../../../src/domain/explanation/reason.ts';
import type { Outcome } from '../../../src/domain/outcome/outcome.ts';
import type { Invocation, Run, RunState, SessionStatus, WaitingFor } from '../../../src/domain/run/run.ts';
import {
  type Command,
  nextWake,
  type SessionResult,
  type Signal,
  transition,
} from '../../../src/domain/run/transition.ts';
import { actionOutcome, at, runState } from '../../support/builders.ts';

/**
 * Plays a run through signals as the engine does: it gives every started step a session's id, and moves time. Every state is
 * frozen before it goes in, so that a transition that writes to its input throws.
 */
export class Player {
  state: RunState;
  /** The commands of the last signal to the engine, with steps by name: `start a`, `look a by time`, `abort ses_1`. */
  commands: string[] = [];
  /** Every session that was ended before it could report, oldest first. */
  readonly ended: { status: SessionStatus; reason: Reason }[] = [];
  /** Every session that was ever started, oldest first. */
  readonly sessions: { id: string; stepId: string }[] = [];
  elapsedMs = 0;

  constructor(definition: Chain, more: Partial<Run> = {}) {
    this.state = runState(definition, more);
  }

  /** A run that has received its first signal. */
  static started(definition: Chain, more: Partial<Run> = {}): Player {
    return new Player(definition, more).send({ kind: 'start' });
  }

  send(signal: Signal): this {
    const { state, commands } = transition(deepFreeze(this.state), signal, at(this.elapsedMs));
    this.state = state;
    this.commands = commands.map((command) => this.#carryOut(command));
    return this;
  }

  done(stepId: string, outcome: Outcome = actionOutcome('gh-label', `${stepId} is done`)): this {
    return this.report(stepId, { kind: 'done', outcome, artifactId: `art_${stepId}` });
  }

  fails(stepId: string, { retryable = false, because = 'it broke' } = {}): this {
    return this.report(stepId, {
      kind: 'failed',
      reason: reason('step.failed.error', because),
      retryable,
    });
  }

  waits(
    stepId: string,
    what: WaitingFor,
    ms: number,
    because: Reason = reason('step.waiting.ci', 'not yet'),
  ): this {
    return this.report(stepId, { kind: 'waits', for: what, until: at(this.elapsedMs + ms), reason: because });
  }

  /** What the step's current session reports. Fails if the step has no session, because the test is wrong then. */
  report(stepId: string, result: SessionResult): this {
    const { sessionId } = this.step(stepId);
    if (sessionId === null) throw new Error(`${stepId} has no session`);
    return this.send({ kind: 'session', sessionId, result });
  }

  /** Moves time and signals it to the run. */
  after(ms: number): this {
    this.elapsedMs += ms;
    return this.send({ kind: 'time' });
  }

  step(stepId: string): Invocation {
    const step = this.state.invocations.find((candidate) => candidate.stepId === stepId);
    if (!step) throw new Error(`there is no step ${stepId}`);
    return step;
  }

  get run(): Run {
    return this.state.run;
  }

  /** All steps, as `a completed, b running`. */
  get steps(): string {
    return this.state.invocations.map((step) => `${step.stepId} ${step.status}`).join(', ');
  }

  /** When the run wants to be woken, in milliseconds from the start of the tests' day. */
  get wakesAt(): number | undefined {
    const time = nextWake(this.state);
    return time && time.getTime() - at(0).getTime();
  }

  #carryOut(command: Command): string {
    if (command.kind === 'abort') {
      this.ended.push(command);
      return `abort ${command.sessionId}`;
    }
    const step = this.state.invocations[command.stepIndex];
    if (!step) throw new Error(`there is no step ${command.stepIndex}`);
    if (command.kind === 'start') {
      step.sessionId = `ses_${this.sessions.length + 1}`;
      this.sessions.push({ id: step.sessionId, stepId: step.stepId });
    }
    return command.kind === 'poll' ? `look ${step.stepId} by ${command.because}` : `start ${step.stepId}`;
  }
}

/** Code and sentence of a reason, as one text. */
export function reasonText(because: Reason | null): string {
  return because === null ? 'no reason' : `${because.code}: ${because.summary}`;
}

function deepFreeze<T extends object>(value: T): T {
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null && !Object.isFrozen(member)) deepFreeze(member);
  }
  return Object.freeze(value);
}
