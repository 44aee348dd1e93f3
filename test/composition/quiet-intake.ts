import { fileURLToPath } from 'node:url';
import { startIntakeThread } from '../../src/composition/intake/thread.ts';
import { silentLog } from '../../src/core/log.ts';

/** Starts an intake thread whose program is a file of this folder, with an engine that has nothing to report. */
export function startQuietIntake(program: string, { engineNiceness }: { engineNiceness?: number } = {}) {
  return startIntakeThread(
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
      program: fileURLToPath(new URL(program, import.meta.url)),
      ...(engineNiceness === undefined ? {} : { engineNiceness }),
    },
  );
}
