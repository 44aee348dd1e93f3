/** The app as `npm start` runs it, composed with a database and a store that know where they are to die, and a clock that may be ahead. */
import { fileURLToPath } from 'node:url';
import { startApp } from '../../src/app.ts';
import { awaitTurn } from '../../src/composition/serving.ts';
import { isPostgres } from '../../src/composition/storage.ts';
import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/core/log-lines.ts';
import { watchedBlobs, watchedStorage } from './durable-writes.ts';
import { clockAhead, createWatch } from './watch.ts';

const read = readConfig(process.env);
if (!read.ok || read.config.kind !== 'app')
  throw new Error('the crash tests start the app with faulty settings');
const watch = createWatch();
const log = createLog(read.config.logLevel);
const endAtOnce = () => process.exit(1);
const { databaseUrl } = read.config;
const turn = isPostgres(databaseUrl)
  ? await awaitTurn(databaseUrl, {
      does: { installations: true, ownWork: true },
      log,
      onLost: endAtOnce,
    })
  : undefined;
const app = await startApp(
  read.config,
  log,
  {
    clock: clockAhead(),
    storage: (real) => watchedStorage(real, watch),
    blobs: (real) => watchedBlobs(real, watch),
    intake: { program: fileURLToPath(new URL('intake-main.ts', import.meta.url)) },
  },
  turn && { turn, onFailed: endAtOnce },
);
log.info({ url: app.url }, 'listening');
process.once('SIGTERM', () => void app.stop().finally(() => turn?.end()));
