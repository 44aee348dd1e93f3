import { resolve } from 'node:path';
import { startApp } from './app.ts';
import { claimDatabase } from './composition/storage.ts';
import { type Environment, readConfig, type SetupConfig } from './config/config.ts';
import { systemClock } from './core/clock.ts';
import { CountersignError } from './core/errors.ts';
import { createLog, type Log } from './core/log.ts';
import { isLoopback } from './core/loopback.ts';
import { neverShowSecretsOf } from './core/redact/redact.ts';
import { offerSetup } from './entrypoints/setup/setup.ts';
import { modelSummary } from './messages/model.ts';
import {
  analyzersShutIn,
  badSettings,
  cannotStart,
  coreDumpsAllowed,
  listening,
  metricsAt,
  servedByAnother,
  setupDone,
  setupOffered,
  stopping,
  waitingFor,
} from './messages/process.ts';
import { forbidCoreDumps } from './sandbox/core-dumps.ts';
import { sandbox } from './sandbox/sandbox.ts';

/**
 * How long a process waits for the one before it to let go of the database, in milliseconds: longer than that one
 * takes to end what is under way, so that a restart in which both overlap goes through.
 */
const TIMEOUT_MS = 15_000;

/** How often a process that npm started checks that its parent still runs, in milliseconds. */
const PARENT_CHECK_MS = 500;

/** Whether the app runs; if not, why: the message ends with a line end and is ready to be shown. */
export type Started = { ok: true } | { ok: false; code: string; message: string };

/**
 * Runs the app until the process is told to stop (SIGTERM, SIGINT), or offers the setup page when no App is registered.
 * Resolves once either listens, or with what keeps it from that.
 */
export async function serve(env: Environment, timeoutMs = TIMEOUT_MS): Promise<Started> {
  const coreDumps = forbidCoreDumps();
  neverShowSecretsOf(env);
  if (env.npm_command !== undefined) endWithParent();
  const read = readConfig(env);
  if (!read.ok) return { ok: false, code: 'config.invalid', message: badSettings(read.diagnostics) };
  const { config } = read;
  if (config.kind === 'setup') return serveSetup(config);
  const log = createLog(config.logLevel);
  if (coreDumps === 'allowed') log.warn({}, coreDumpsAllowed);
  try {
    const claim = await claimDatabase(config.databaseUrl, {
      clock: systemClock,
      timeoutMs,
      onWait: (holder) => log.warn({ holder }, waitingFor(holder, timeoutMs)),
    });
    if (!claim.ok) return refusal('storage.served_by_another', servedByAnother(claim.holder));
    try {
      const app = await startApp(config, log);
      stopWhenTold(log, () => app.stop().finally(claim.release));
      log.info({ url: app.url }, listening(app.url));
      if (app.metricsUrl !== undefined) log.info({ url: app.metricsUrl }, metricsAt(app.metricsUrl));
      log.info({}, modelSummary(config.model));
      sayHowShutIn(log);
      return { ok: true };
    } catch (error) {
      claim.release();
      throw error;
    }
  } catch (error) {
    return refusalOf(error);
  }
}

async function serveSetup(config: SetupConfig): Promise<Started> {
  const file = resolve('.env');
  try {
    const url = await offerSetup(config, {
      file,
      onRegistered: () => process.stderr.write(setupDone(file)),
    });
    const isOpen = !isLoopback(new URL(url).hostname);
    process.stderr.write(setupOffered(url, { file, publicUrl: config.publicUrl, isOpen }));
    return { ok: true };
  } catch (error) {
    return refusalOf(error);
  }
}

/** @throws anything that is no error for a person. */
function refusalOf(error: unknown): Started {
  if (!(error instanceof CountersignError)) throw error;
  return refusal(error.code, error.message);
}

function refusal(code: string, because: string): Started {
  return { ok: false, code, message: cannotStart(because) };
}

function stopWhenTold(log: Log, stop: () => Promise<void>): void {
  let told = false;
  const onSignal = (signal: string) => {
    if (told) return;
    told = true;
    log.info({ signal }, stopping);
    // Ended here and not left to end by itself: a request to GitHub that gets no answer keeps a process alive for as long as
    // its time-out. Whatever is under way by now was given back to the queue.
    void stop().finally(() => process.exit());
  };
  // `on`, not `once`: supervisors and terminals often tell twice, and the second must not cut the first short.
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

/**
 * npm starts this process inside a shell (`npx countersign serve`, `npm start`) and passes a SIGTERM on to that shell only. The shell
 * ends, and would leave this process running, so the end of the parent counts as a SIGTERM.
 */
function endWithParent(): void {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, PARENT_CHECK_MS);
  watch.unref();
}

function sayHowShutIn(log: Log): void {
  void sandbox().then(({ network }) =>
    log[network === 'cut' ? 'info' : 'warn']({ network }, analyzersShutIn(network)),
  );
}
