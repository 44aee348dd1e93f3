import { createHmac } from 'node:crypto';
import type { ApplicationFunctionOptions, Probot } from 'probot';
import { appOfProbot } from './adapters/octokit/probot.ts';
import { type HostedApp, startHosted } from './composition/intake/hosted.ts';
import { claimToServeAlone, PREDECESSOR_MS } from './composition/serving.ts';
import { readBaseConfig } from './config/config.ts';
import { CountersignError } from './core/errors.ts';
import { redactedLog } from './core/log.ts';
import { neverShow, neverShowSecretsOf } from './core/redact/redact.ts';
import { badSettings, cannotStart, NO_WEBHOOK_SECRET, pluginsDoNotApply } from './messages/cli/process.ts';

/** The secret of a Probot server that was given none: `defaultWebhookSecret` in `server/server.js` of probot 14. */
const DEFAULT_SECRET = 'development';

/**
 * Countersign as a Probot application, for `probot run countersign` and for a server that hosts several apps. The
 * App's id, key, webhook secret and address of GitHub are the server's; all other settings come from the
 * environment, as for `countersign serve`. The server must have one process: a second one cannot serve the same
 * database.
 * @throws CountersignError with a message for people if it cannot start; then the server does not start either
 */
export default async function countersign(
  app: Probot,
  { addHandler }: ApplicationFunctionOptions,
): Promise<void> {
  const hosted = await start(app);
  app.onAny((event) => hosted.record(event));
  addHandler((request, response) => hosted.answer(request, response));
}

async function start(app: Probot): Promise<HostedApp> {
  neverShowSecretsOf(process.env);
  const log = redactedLog(app.log);
  const read = readBaseConfig(process.env);
  if (!read.ok) throw new CountersignError('config.invalid', badSettings(read.diagnostics));
  if (await acceptsDefaultSecret(app)) {
    throw new CountersignError('config.no_webhook_secret', cannotStart(NO_WEBHOOK_SECRET));
  }
  const own = await appOfProbot(await app.auth());
  const { key, plugins } = own;
  neverShow('private key', key.privateKey);
  if (plugins.length > 0) log.warn({ plugins }, pluginsDoNotApply(plugins));
  const release = await claimToServeAlone(read.config.databaseUrl, {
    log,
    timeoutMs: PREDECESSOR_MS,
    onLost: () => process.exit(1),
  });
  try {
    const config = { ...read.config, githubApiUrl: key.apiUrl };
    const hosted = await startHosted(config, own, { log, logsDebug: app.log.isLevelEnabled('debug') });
    stopWithServer(() => hosted.stop().finally(release));
    return hosted;
  } catch (error) {
    await release();
    throw error;
  }
}

async function acceptsDefaultSecret({ webhooks }: Probot): Promise<boolean> {
  const body = '{}';
  const signature = createHmac('sha256', DEFAULT_SECRET).update(body).digest('hex');
  return webhooks.verify(body, `sha256=${signature}`);
}

/**
 * Ends the work under way before the process ends: on a signal, or when the server is closed and nothing else keeps the
 * process running. A server that has handlers of its own for the signal decides
 * itself when the process ends; work that is cut off is done again after the next start.
 */
function stopWithServer(stop: () => Promise<void>): void {
  let stopping: Promise<void> | undefined;
  const stopOnce = () => {
    stopping ??= stop();
    return stopping;
  };
  process.once('beforeExit', () => void stopOnce());
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    let requested = false;
    // `on`, not `once`: supervisors often send a second signal, which must not interrupt the shutdown.
    const onSignal = () => {
      if (requested) return;
      requested = true;
      void stopOnce().finally(() => {
        process.off(signal, onSignal);
        if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
      });
    };
    process.on(signal, onSignal);
  }
}
