import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gitHubPages, namesAnApp, type SetupConfig } from '../../config/config.ts';
import { readEnvFile, setInEnvFile, unwritable } from '../../config/env-file.ts';
import { WEBHOOK_PATH } from '../../config/webhook-path.ts';
import { CountersignError, messageOf } from '../../core/errors.ts';
import { PACKAGE_ROOT } from '../../core/package-root.ts';
import {
  alreadyRegistered,
  cannotKeepSettings,
  cannotOfferSetup,
  noManifest,
  registerByHand,
  setupFailed,
  setupRefused,
} from '../../messages/process.ts';
import { type Guard, refusedFor } from './browser-guard.ts';

/**
 * Offers Probot's setup page, which registers the App on GitHub from `app.yml`, and writes its credentials to an env file,
 * once. Resolves with the page's address once it listens. For a process that does nothing else: Probot takes what it needs from
 * the process's folder and environment, so both are changed.
 * @throws CountersignError when the credentials could not be kept, are there already, or the page cannot listen.
 */
export async function offerSetup(
  config: SetupConfig,
  { file, onRegistered }: { file: string; onRegistered: () => void },
): Promise<string> {
  if (!existsSync(join(PACKAGE_ROOT, 'app.yml'))) {
    throw new CountersignError('setup.no_manifest', noManifest(PACKAGE_ROOT));
  }
  const refuseSecond = () => {
    if (namesAnApp(readEnvFile(file)))
      throw new CountersignError('setup.registered', alreadyRegistered(file));
  };
  const because = unwritable(file);
  if (because !== undefined)
    throw new CountersignError('setup.cannot_keep', cannotKeepSettings(file, because));
  refuseSecond();

  const github = gitHubForProbot(config.githubApiUrl);
  // The manifest is read from the process's folder.
  process.chdir(PACKAGE_ROOT);
  prepareEnvironment(config, github);
  const page = await probotsPage((values) => {
    refuseSecond();
    setInEnvFile(file, values);
    onRegistered();
  });
  const server = guarded(page, config.host);
  try {
    server.listen(config.port, config.host);
    await once(server, 'listening');
  } catch (error) {
    throw new CountersignError('http.cannot_listen', cannotOfferSetup(messageOf(error)));
  }
  return `http://${config.host}:${(server.address() as AddressInfo).port}`;
}

/** Answers a request if it is for its page; the answer says whether it was. */
type Handler = (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;

/**
 * Probot's own handlers of the page, without its server, which lets nobody look at a request before they do. They are no part of what
 * Probot offers to others, so they are loaded by their place; its version is pinned, and the tests use the page. Loaded here and not
 * above: an app that is registered never needs them, and would start later by them.
 * @param keep Probot's own writes to the process's folder, readable by everybody, as often as it is asked to.
 */
async function probotsPage(keep: (values: Record<string, string>) => void): Promise<Handler[]> {
  const load = (path: string) => import(new URL(path, import.meta.resolve('probot')).href);
  const [{ staticFilesHandler }, { setupAppFactory }] = await Promise.all([
    load('./server/handlers/static-files.js'),
    load('./apps/setup.js'),
  ]);
  const updateEnv = (values: Record<string, string>) => {
    keep(values);
    return values;
  };
  const log = { info() {}, error() {} };
  return [staticFilesHandler, await setupAppFactory({ log, updateEnv })()];
}

/** The handlers behind a server of ours, which asks first whether a request may come from another site (`browser-guard.ts`). */
function guarded(handlers: readonly Handler[], host: string): Server {
  const guard: Guard = {
    host,
    statePath: '/probot/setup',
    state: randomBytes(32).toString('base64url'),
    maxBodyBytes: 64 * 1024,
  };
  return createServer({ headersTimeout: 5_000, requestTimeout: 15_000 }, async (request, response) => {
    // No other site may show the page in a frame of its own and have somebody press its buttons.
    response.setHeader('x-frame-options', 'DENY');
    const say = (status: number, words: string) =>
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${words}\n`);
    const { method = '', headers } = request;
    const url = URL.parse(request.url ?? '', 'http://localhost');
    const refusal = url === null ? 'host' : refusedFor({ method, url, headers }, guard);
    if (refusal !== undefined) {
      say(403, setupRefused(refusal));
      return;
    }
    if (url?.pathname === '/probot') giveState(response, guard.state);
    try {
      for (const handler of handlers) if (await handler(request, response)) return;
      say(404, 'Not found');
    } catch (error) {
      const because = messageOf(error);
      process.stderr.write(setupFailed(because));
      if (!response.headersSent) say(500, setupFailed(because).trimEnd());
    }
  });
}

/** Has the form of Probot's page send our state to GitHub, which gives it back. */
function giveState(response: ServerResponse, state: string): void {
  const end = response.end.bind(response) as (text: string) => ServerResponse;
  Object.assign(response, {
    end(html: string) {
      const withState = html.replace(/(<form action="[^"?]*)(")/, `$1?state=${state}$2`);
      if (withState === html) throw new Error('the page of Probot has no form that could carry the state');
      return end(withState);
    },
  });
}

/**
 * An enterprise's own GitHub, `undefined` for github.com. Probot looks for an enterprise's API at `/api/v3` of the host that people
 * see; where it is elsewhere, the App would be made and its key never fetched.
 */
function gitHubForProbot(apiUrl: string): URL | undefined {
  if (apiUrl === 'https://api.github.com') return undefined;
  const pages = new URL(gitHubPages(apiUrl));
  if (apiUrl === `${pages.origin}/api/v3`) return pages;
  throw new CountersignError('setup.by_hand', registerByHand(pages.origin));
}

function prepareEnvironment({ publicUrl, port }: SetupConfig, enterprise: URL | undefined): void {
  const { env } = process;
  delete env.GHE_HOST;
  if (enterprise) {
    env.GHE_HOST = enterprise.host;
    env.GHE_PROTOCOL = enterprise.protocol.slice(0, -':'.length);
  }
  // Probot's channel for webhooks through a third party would be fetched at run time, and webhooks of a bot that merges have no
  // business with a relay.
  env.NO_SMEE_SETUP = 'true';
  // Without this variable, the manifest names the page's own address as the webhook's, without our path.
  env.WEBHOOK_PROXY_URL = `${publicUrl ?? `http://localhost:${port}`}${WEBHOOK_PATH}`;
  // In production Probot offers no setup; that there is no App to run is for our own configuration to say.
  env.NODE_ENV = 'development';
}
