import { parentPort, workerData } from 'node:worker_threads';
import { fetchOver } from './adapters/octokit/fetch-elsewhere.ts';
import { octokitsWithKey } from './adapters/octokit/sign-in.ts';
import { startHostedEngine } from './app.ts';
import { beat } from './composition/intake/engine-end.ts';
import type { EngineStart, LogLine } from './composition/intake/hosted.ts';
import type { Close, FromEngine, FromThread } from './composition/intake/messages.ts';
import { ENGINE_NICENESS, giveWay } from './composition/intake/niceness.ts';
import { CountersignError } from './core/errors.ts';
import { type Log, markRedacting } from './core/log.ts';
import { redactedFields } from './core/redact/fields.ts';
import { neverShowSecretsOf, redact } from './core/redact/redact.ts';

/** The engine in a Probot server. Runs until the server's thread tells it to close. */
if (!parentPort) throw new Error('this program runs only as a thread of a Probot server');
const port = parentPort;
const { config, key, fetches, logsDebug, inboxPath, heartbeat }: EngineStart = workerData;
const send = (message: FromEngine | FromThread<undefined> | LogLine) => port.postMessage(message);
const close = Promise.withResolvers<void>();
port.on('message', ({ kind }: Close) => {
  if (kind === 'close') close.resolve();
});
neverShowSecretsOf(process.env);
beat(heartbeat);
try {
  const source = { ...octokitsWithKey(key), ...(fetches && { fetch: fetchOver(fetches) }) };
  const engine = await startHostedEngine(config, { key, source, intake: { inboxPath, port } }, createLog());
  giveWay(ENGINE_NICENESS);
  send({ kind: 'started', as: undefined });
  await close.promise;
  await engine.stop();
} catch (error) {
  if (!(error instanceof CountersignError)) throw error;
  send({ kind: 'refused', code: error.code, message: error.message });
}
// Ends only the thread. A request to GitHub without a response would keep it alive until its timeout.
process.exit();

/** Passes lines without secrets to the server's log. */
function createLog(): Log {
  const lines =
    (level: keyof Log): Log['info'] =>
    (fields, message) =>
      send({ kind: 'log', level, fields: redactedFields(fields), message: redact(message) });
  return markRedacting({
    debug: logsDebug ? lines('debug') : () => {},
    info: lines('info'),
    warn: lines('warn'),
    error: lines('error'),
  });
}
