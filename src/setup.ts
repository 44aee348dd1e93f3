import { run } from 'probot';
import type { SetupConfig } from './config.ts';
import { WEBHOOK_PATH } from './webhook/server.ts';

/**
 * Offers Probot's setup page, which registers the App on GitHub from `app.yml` and writes its credentials to `.env`.
 * Probot's channel for webhooks through a third party is switched off: it would be fetched at run time, and webhooks
 * of a bot that merges have no business with a relay.
 */
export async function offerSetup(config: SetupConfig): Promise<void> {
  process.env.NO_SMEE_SETUP = 'true';
  // Without this variable, Probot's manifest names the page's own address as the webhook's, without our path.
  const publicUrl = config.publicUrl ?? `http://localhost:${config.port}`;
  process.env.WEBHOOK_PROXY_URL = `${publicUrl}${WEBHOOK_PATH}`;
  await run(() => {}, { env: { HOST: config.host, PORT: String(config.port) } });
}
