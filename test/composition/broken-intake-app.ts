/** A program of a test: an intake thread that listens and then fails. Without the thread's failure, it would run for a minute. */
import { fileURLToPath } from 'node:url';
import { startIntakeThread } from '../../src/composition/intake/thread.ts';
import { silentLog } from '../../src/core/log.ts';

setTimeout(() => process.exit(0), 60_000);
await startIntakeThread(
  {
    host: '127.0.0.1',
    port: 0,
    webhookSecret: 'a-secret-only-for-tests',
    metricsAccess: {},
    logLevel: 'silent',
  },
  {
    secrets: {},
    inboxPath: 'unused',
    engine: { metrics: async () => '', readiness: async () => ({ failures: [], warnings: [] }) },
    onRecorded() {},
    log: silentLog,
    program: fileURLToPath(new URL('broken-intake-thread.ts', import.meta.url)),
  },
);
