import type { MessagePort } from 'node:worker_threads';
import { type Clock, systemClock } from '../../core/clock.ts';
import { CountersignError } from '../../core/errors.ts';
import { createLog } from '../../core/log-lines.ts';
import { withoutRepeats } from '../../core/outage-log.ts';
import { neverShow } from '../../core/redact/redact.ts';
import type { Recorder } from '../../entrypoints/webhook/delivery/intake.ts';
import { startStudioThread, studioGate } from '../studio/gate.ts';
import { appHealth } from './health.ts';
import { openIntakeEnd } from './intake-end.ts';
import { type Listening, listenForRequests } from './listen.ts';
import type { Close, FromEngine, FromIntake, FromThread, IntakeStart } from './messages.ts';

/** Replacements for tests. */
export interface IntakeOverrides {
  clock?: Clock;
  /** Wraps what records. */
  recorder?: (real: Recorder) => Recorder;
}

/**
 * The intake thread: the HTTP server, with a file of its own that it records in. Runs until the engine's thread
 * tells it to close.
 */
export async function runIntake(
  { settings, logLevel, logFormat, secrets, studio, ...shared }: IntakeStart,
  port: MessagePort,
  overrides: IntakeOverrides = {},
): Promise<void> {
  const clock = overrides.clock ?? systemClock;
  for (const [name, value] of Object.entries(secrets)) neverShow(name, value);
  const send = (message: FromIntake | FromThread<Omit<Listening, 'close'>>) => port.postMessage(message);
  const log = withoutRepeats(createLog(logLevel, logFormat), clock);
  const close = Promise.withResolvers<void>();

  try {
    const end = openIntakeEnd(shared, send);
    port.on('message', (message: FromEngine | Close) =>
      message.kind === 'close' ? close.resolve() : end.take(message),
    );
    try {
      const recorder = overrides.recorder?.(end.recorder) ?? end.recorder;
      const { url, metricsUrl, ...listening } = await listenForRequests(settings, {
        ...end,
        recorder,
        studio: studio && studioGate(() => startStudioThread(studio, () => appHealth(end, log))),
        clock,
        log,
      });
      send({ kind: 'started', as: { url, metricsUrl } });
      await close.promise;
      await listening.close();
    } finally {
      end.close();
    }
  } catch (error) {
    if (!(error instanceof CountersignError)) throw error;
    send({ kind: 'refused', code: error.code, message: error.message });
  } finally {
    port.close();
  }
}
