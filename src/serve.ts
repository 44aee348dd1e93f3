import { startApp } from './app.ts';
import { type Environment, readConfig } from './config.ts';
import { CountersignError } from './core/errors.ts';
import { createLog } from './core/log.ts';
import { offerSetup } from './setup.ts';
import { badSettings, cannotStart, listening, setupOffered, stopping } from './words/process.ts';

/** Whether the app runs; if not, why: the message ends with a line end and is ready to be shown. */
export type Started = { ok: true } | { ok: false; code: string; message: string };

/**
 * Runs the app until the process is told to stop (SIGTERM, SIGINT), or offers the setup page when no App is registered.
 * Resolves once either listens, or with what keeps it from that.
 */
export async function serve(env: Environment): Promise<Started> {
  const read = readConfig(env);
  if (!read.ok) return { ok: false, code: 'config.invalid', message: badSettings(read.faults) };
  const { config } = read;
  if (config.kind === 'setup') {
    process.stderr.write(setupOffered(config.port, config.publicUrl));
    await offerSetup(config);
    return { ok: true };
  }
  const log = createLog(config.logLevel);
  try {
    const app = await startApp(config, log);
    log.info({ url: app.url }, listening(app.url));

    let told = false;
    const stop = (signal: string) => {
      if (told) return;
      told = true;
      log.info({ signal }, stopping);
      void app.stop();
    };
    process.once('SIGTERM', stop);
    process.once('SIGINT', stop);
    return { ok: true };
  } catch (error) {
    if (!(error instanceof CountersignError)) throw error;
    return { ok: false, code: error.code, message: cannotStart(error.message) };
  }
}
