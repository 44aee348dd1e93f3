import { hrtime } from 'node:process';
import { unreachable } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { FromEngine, FromIntake, MakesReports } from './messages.ts';

/** How often the engine's thread says that it still runs, in milliseconds. */
const HEARTBEAT_MS = 1_000;

/** What the engine's thread does with a message of the intake's. */
export type TakeFromIntake = (message: FromIntake, reply: (message: FromEngine) => void) => void;

/** @param onRecorded called after each commit of new deliveries */
export function answerIntake(
  engine: MakesReports,
  { onRecorded, log }: { onRecorded(): void; log: Log },
): TakeFromIntake {
  return (message, reply) => {
    switch (message.kind) {
      case 'recorded':
        return onRecorded();
      case 'ask':
        return void engine[message.report]().then(
          (value) => reply({ kind: 'report', id: message.id, value }),
          (err) => {
            log.error({ err }, 'the engine could not report its state');
            reply({ kind: 'no_report', id: message.id });
          },
        );
      default:
        return unreachable(message);
    }
  };
}

/** Memory for the time at which the engine's thread last ran its event loop. */
export function createHeartbeat(): SharedArrayBuffer {
  return new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT);
}

/** Says from now on that this thread runs. @returns ends that */
export function beat(heartbeat: SharedArrayBuffer): () => void {
  const lastBeat = new Float64Array(heartbeat);
  const now = () => {
    lastBeat[0] = monotonicMs();
  };
  now();
  const beating = setInterval(now, HEARTBEAT_MS);
  return () => clearInterval(beating);
}

/** For how long the engine's thread has not run its event loop, in milliseconds. */
export function silentMs(heartbeat: SharedArrayBuffer): number {
  return monotonicMs() - (new Float64Array(heartbeat)[0] ?? 0);
}

/** Milliseconds of a clock that all threads of the process share, unlike `performance.now()`. */
function monotonicMs(): number {
  return Number(hrtime.bigint() / 1_000_000n);
}
