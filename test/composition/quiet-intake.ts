import { fileURLToPath } from 'node:url';
import { startIntakeThread } from '../../src/composition/intake/start.ts';

/** Starts an intake thread whose program is a file of this folder, with an engine that answers nothing. */
export function startQuietIntake(program: string, { engineNiceness }: { engineNiceness?: number } = {}) {
  return startIntakeThread(
    {
      settings: {
        host: '127.0.0.1',
        port: 0,
        webhookSecret: 'a-secret-only-for-tests',
        metricsAccess: {},
      },
      logLevel: 'silent',
      secrets: {},
      inboxPath: 'unused',
    },
    {
      program: fileURLToPath(new URL(program, import.meta.url)),
      ...(engineNiceness === undefined ? {} : { engineNiceness }),
    },
    () => {},
  );
}
