import { resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { type App, startApp } from './app.ts';
import { collectAtRest } from './composition/heap-at-rest.ts';
import { ENGINE_NICENESS } from './composition/intake/niceness.ts';
import { awaitTurn, claimToServeAlone, NO_TURN, PREDECESSOR_MS } from './composition/serving.ts';
import { isPostgres } from './composition/storage.ts';
import { type AppConfig, readConfig, type SetupConfig } from './config/config.ts';
import { readEnvFile } from './config/env-file.ts';
import type { Environment } from './config/fields.ts';
import { ALL_ROLES } from './config/roles.ts';
import { CountersignError, messageOf } from './core/errors.ts';
import type { Log } from './core/log.ts';
import { createLog } from './core/log-lines.ts';
import { isLoopback } from './core/loopback.ts';
import { neverShowSecretsOf } from './core/redact/redact.ts';
import { offerSetup } from './entrypoints/setup/setup.ts';
import {
  analyzersShutIn,
  badSettings,
  cannotStart,
  coreDumpsAllowed,
  listening,
  metricsAt,
  setUpUnchecked,
  setUpWell,
  setupDone,
  setupOffered,
  stopping,
} from './messages/cli/process.ts';
import { wordsOf } from './messages/self-check/self-check.ts';
import { modelSummary } from './messages/skills/model.ts';
import { forbidCoreDumps } from './sandbox/core-dumps.ts';
import { sandbox } from './sandbox/sandbox.ts';
import { removeAbandonedFolders } from './sandbox/temporary-folder.ts';

/**
 * Garbage is collected when the heap has grown by this part of what was in use. Otherwise, V8 lets it grow to as much
 * as four times that on a machine with much memory, and never returns all of it. The image and `npm start` set it
 * earlier, before the modules load.
 */
const HEAP_GROWTH_PERCENT = 80;

/** How often a process started by npm checks that its parent still runs, in milliseconds. */
const PARENT_CHECK_MS = 500;

/** The app runs, or the reason why it cannot. The message ends with a line break and is ready to print. */
export type Started = { ok: true } | { ok: false; code: string; message: string };

/**
 * Runs the app until SIGTERM or SIGINT, or serves the setup page if no App is registered. Resolves once
 * either listens or has failed to start.
 */
export async function serve(env: Environment, timeoutMs = PREDECESSOR_MS): Promise<Started> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
  const coreDumps = forbidCoreDumps();
  neverShowSecretsOf(env);
  if (env.npm_command !== undefined) endWithParent();
  const read = readConfig(env);
  if (!read.ok) return { ok: false, code: 'config.invalid', message: badSettings(read.diagnostics) };
  const { config } = read;
  if (config.kind === 'setup') return serveSetup(config, env);
  const log = createLog(config.logLevel, config.logFormat);
  if (coreDumps === 'allowed') log.warn({}, coreDumpsAllowed);
  try {
    const { app, release } = await (isPostgres(config.databaseUrl)
      ? serveShared(config, log)
      : serveAlone(config, log, timeoutMs));
    stopOnSignal(log, () => app.stop().finally(release));
    log.info({ url: app.url }, listening(app.url));
    if (app.metricsUrl !== undefined) log.info({ url: app.metricsUrl }, metricsAt(app.metricsUrl));
    log.info({}, modelSummary(config.model));
    logSandbox(log);
    void logSetup(config, log);
    void removeAbandonedFolders();
    collectAtRest();
    return { ok: true };
  } catch (error) {
    return refusalOf(error);
  }
}

/** The app, and what lets another process serve its database after it has stopped. */
interface Served {
  app: App;
  release(): void | Promise<void>;
}

/** An SQLite file belongs to one process, which does everything. */
async function serveAlone(config: AppConfig, log: Log, timeoutMs: number): Promise<Served> {
  const release = await claimToServeAlone(config.databaseUrl, { log, timeoutMs, onLost: endAtOnce });
  try {
    return { app: await startApp(config, log, { intake: { engineNiceness: ENGINE_NICENESS } }), release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Several processes share a database of PostgreSQL, and divide the work (ADR 73). */
async function serveShared(config: AppConfig, log: Log): Promise<Served> {
  const { worker, scheduler } = config.roles ?? ALL_ROLES;
  const does = { installations: worker, ownWork: scheduler };
  const turn =
    worker || scheduler ? await awaitTurn(config.databaseUrl, { does, log, onLost: endAtOnce }) : NO_TURN;
  try {
    const app = await startApp(config, log, { intake: {} }, { turn, onFailed: endAtOnce });
    return { app, release: turn.end };
  } catch (error) {
    await turn.end();
    throw error;
  }
}

/** Nothing of this process can be written any more, so there is nothing to wait for. A supervisor starts it again. */
function endAtOnce(): void {
  process.exit(1);
}

async function serveSetup(config: SetupConfig, env: Environment): Promise<Started> {
  const file = resolve('.env');
  try {
    const url = await offerSetup(config, {
      file,
      onRegistered: () => process.stderr.write(setupDone(file)),
      async selfCheck() {
        const read = readConfig({ ...env, ...readEnvFile(file) });
        if (!read.ok || read.config.kind === 'setup')
          return [{ check: 'settings', kind: 'invalid', diagnostics: read.ok ? [] : read.diagnostics }];
        return (await import('./composition/self-check.ts')).checkSetup(read.config);
      },
    });
    const isOpen = !isLoopback(config.host === '::1' ? '[::1]' : config.host);
    process.stderr.write(setupOffered(url, { file, isOpen }));
    return { ok: true };
  } catch (error) {
    return refusalOf(error);
  }
}

/** @throws any error that has no message for people */
function refusalOf(error: unknown): Started {
  if (!(error instanceof CountersignError)) throw error;
  return refusal(error.code, error.message);
}

function refusal(code: string, because: string): Started {
  return { ok: false, code, message: cannotStart(because) };
}

function stopOnSignal(log: Log, stop: () => Promise<void>): void {
  let requested = false;
  const onSignal = (signal: string) => {
    if (requested) return;
    requested = true;
    log.info({ signal }, stopping);
    // Exits explicitly: a request to GitHub without a response would keep the process alive until its
    // timeout. Unfinished work is in the queue again by now.
    void stop().finally(() => process.exit());
  };
  // `on`, not `once`: supervisors and terminals often send a second signal, which must not interrupt the
  // shutdown.
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

/**
 * npm starts this process in a shell (`npx countersign serve`, `npm start`) and forwards SIGTERM only to that
 * shell, which ends and leaves this process running. So the end of the parent counts as SIGTERM.
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

/** Says what `countersign doctor` would, for as much as GitHub and the disks tell. It delays nothing. */
async function logSetup(config: AppConfig, log: Log): Promise<void> {
  try {
    const { checkSetup } = await import('./composition/self-check.ts');
    const found = (await checkSetup(config)).map((finding) => ({ finding, ...wordsOf(finding) }));
    for (const { finding, status, summary, todo } of found) {
      const fields = { check: finding.check, found: finding.kind, ...(todo !== undefined && { todo }) };
      if (status === 'error') log.error(fields, summary);
      if (status === 'warning') log.warn(fields, summary);
    }
    if (!found.some(({ status }) => status === 'error' || status === 'warning'))
      log.info({ checks: found.length }, setUpWell);
  } catch (error) {
    log.warn({ err: messageOf(error) }, setUpUnchecked);
  }
}

function logSandbox(log: Log): void {
  void sandbox().then(({ network }) =>
    log[network === 'cut' ? 'info' : 'warn']({ network }, analyzersShutIn(network)),
  );
}
