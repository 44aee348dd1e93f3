import { join } from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { CountersignError } from '../../core/errors.ts';
import { OWN_CODE, OWN_EXTENSION } from '../../core/package-root.ts';
import type { Close, FromThread } from './messages.ts';

/** The other one of the app's two threads. */
export interface Thread<Started, To> {
  /** What it said when it started. */
  started: Started;
  send(message: To): void;
  /** It does not keep the process running from now on, until it is closed. */
  unref(): void;
  /** Asks it to end, and waits until it has. */
  close(): Promise<void>;
}

/**
 * Starts the other thread. If it fails later, the error is thrown as an uncaught one and ends the process: without the
 * intake, GitHub's deliveries would be lost one by one, and without the engine, nobody would work on them.
 * @param program a file of this code, without its extension, or any file with an absolute path
 * @param onMessage called with all its other messages
 * @throws CountersignError if the thread refuses to start
 */
export async function startThread<Started, From extends { kind: string }, To>(
  program: string,
  options: WorkerOptions,
  onMessage: (message: From, reply: (message: To) => void) => void,
): Promise<Thread<Started, To>> {
  const file = program.startsWith('/') ? program : join(OWN_CODE, `${program}.${OWN_EXTENSION}`);
  const worker = new Worker(file, options);
  const starting = Promise.withResolvers<Started>();
  const closed = Promise.withResolvers<void>();
  let isClosing = false;

  const send = (message: To | Close) => worker.postMessage(message);
  worker.on('message', (message: FromThread<Started> | From) => {
    if (isOfStart(message)) {
      if (message.kind === 'started') return starting.resolve(message.as);
      isClosing = true;
      return starting.reject(new CountersignError(message.code, message.message));
    }
    onMessage(message, send);
  });
  // Without a listener, the error is thrown here and ends the process, as it should.
  worker.on('exit', (code) => {
    closed.resolve();
    if (!isClosing) throw new Error(`the thread ${options.name} ended by itself with ${code}`);
  });

  const started = await starting.promise.catch(async (error: unknown) => {
    await closed.promise;
    throw error;
  });
  return {
    started,
    send,
    unref: () => worker.unref(),
    async close() {
      isClosing = true;
      worker.ref();
      send({ kind: 'close' });
      await closed.promise;
    },
  };

  function isOfStart(message: FromThread<Started> | From): message is FromThread<Started> {
    return message.kind === 'started' || message.kind === 'refused';
  }
}
