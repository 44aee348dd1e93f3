/** A program of a test: starts an intake thread that only listens, and prints the niceness of its own thread. */
import { getPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { startIntakeThread } from '../../src/composition/intake/thread.ts';
import { silentLog } from '../../src/core/log.ts';

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
    program: fileURLToPath(new URL('listening-intake-thread.ts', import.meta.url)),
    engineNiceness: 10,
  },
);
process.stdout.write(String(getPriority()));
process.exit();
