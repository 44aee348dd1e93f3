import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gitHubPages } from '../../config/addresses.ts';
import { namesAnApp, type SetupConfig } from '../../config/config.ts';
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
} from '../../messages/cli/process.ts';
import { type Guard, refusedFor } from './browser-guard.ts';

/**
 * Serves Probot's setup page, which registers the App on GitHub from `app.yml`, and writes the App's
 * credentials to an env file, once. Changes the process's folder and environment, because Probot reads both,
 * so the process must do nothing else.
 * @returns the page's address, once it listens
 * @throws CountersignError if the credentials exist already or cannot be written, or the page cannot listen
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
  // Probot reads the manifest from the process's folder.
  process.chdir(PACKAGE_ROOT);
  prepareEnvironment(config, github);
  const page = await loadProbotPage((values) => {
    refuseSecond();
    setInEnvFile(file, values);
    onRegistered();
  });
  const server = guardedServer(page, config.host, signInCallback(config));
  try {
    server.listen(config.port, config.host);
    await once(server, 'listening');
  } catch (error) {
    throw new CountersignError('http.cannot_listen', cannotOfferSetup(messageOf(error)));
  }
  return `http://${config.host}:${(server.address() as AddressInfo).port}`;
}

/** Handles a request if it is for its page. Returns whether it did. */
type Handler = (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;

/**
 * Probot's own handlers of the page. Its server is not used, because it allows no check before them. The
 * handlers are not exported, so they are loaded by path; the version is pinned and tests cover the page.
 * Imported lazily, because a registered app does not need them and would start more slowly.
 * @param save replaces Probot's own function, which writes a world-readable file to the process's folder on
 * every call
 */
async function loadProbotPage(save: (values: Record<string, string>) => void): Promise<Handler[]> {
  const load = (path: string) => import(new URL(path, import.meta.resolve('probot')).href);
  const [{ staticFilesHandler }, { setupAppFactory }] = await Promise.all([
    load('./server/handlers/static-files.js'),
    load('./apps/setup.js'),
  ]);
  const updateEnv = (values: Record<string, string>) => {
    save(values);
    return values;
  };
  const log = { info() {}, error() {} };
  return [staticFilesHandler, await setupAppFactory({ log, updateEnv })()];
}

/** Serves the handlers behind `browser-guard.ts`, which refuses requests that may come from another site. */
function guardedServer(handlers: readonly Handler[], host: string, callbackUrl: string): Server {
  const guard: Guard = {
    host,
    statePath: '/probot/setup',
    state: randomBytes(32).toString('base64url'),
    maxBodyBytes: 64 * 1024,
  };
  return createServer({ headersTimeout: 5_000, requestTimeout: 15_000 }, async (request, response) => {
    // Otherwise another site could show the page in a frame and make a person press its buttons.
    response.setHeader('x-frame-options', 'DENY');
    const respond = (status: number, words: string) =>
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${words}\n`);
    const { method = '', headers } = request;
    const url = URL.parse(request.url ?? '', 'http://localhost');
    const refusal = url === null ? 'host' : refusedFor({ method, url, headers }, guard);
    if (refusal !== undefined) {
      respond(403, setupRefused(refusal));
      return;
    }
    if (url?.pathname === '/probot') completeForm(response, guard.state, callbackUrl);
    try {
      for (const handler of handlers) if (await handler(request, response)) return;
      respond(404, 'Not found');
    } catch (error) {
      const because = messageOf(error);
      process.stderr.write(setupFailed(because));
      if (!response.headersSent) respond(500, setupFailed(because).trimEnd());
    }
  });
}

/** Where GitHub sends people who sign in to Studio. */
function signInCallback({ publicUrl, port }: SetupConfig): string {
  return new URL('/sign-in/callback', publicUrl ?? `http://localhost:${port}`).href;
}

/**
 * Adds our state to the form of Probot's page, which GitHub returns, and to its manifest the address for sign-in, which
 * `app.yml` cannot know.
 * https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest#github-app-manifest-parameters
 */
function completeForm(response: ServerResponse, state: string, callbackUrl: string): void {
  const end = response.end.bind(response) as (text: string) => ServerResponse;
  Object.assign(response, {
    end(html: string) {
      const withState = html.replace(/(<form action="[^"?]*)(")/, `$1?state=${state}$2`);
      if (withState === html) throw new Error('the page of Probot has no form that could carry the state');
      return end(withCallback(withState, callbackUrl));
    },
  });
}

function withCallback(html: string, callbackUrl: string): string {
  const complete = html.replace(
    /(name="manifest"[^>]* value=')([^']*)'/,
    (_, before: string, text: string) => {
      const manifest: object = { ...JSON.parse(text), callback_urls: [callbackUrl] };
      return `${before}${JSON.stringify(manifest).replaceAll("'", '&#39;')}'`;
    },
  );
  if (complete === html) throw new Error('the page of Probot has no manifest');
  return complete;
}

/**
 * The URL of a GitHub Enterprise Server; `undefined` for github.com. Probot expects the API at `/api/v3` of
 * the host with the pages. With any other layout, GitHub would register the App but Probot could not fetch
 * its key.
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
  // Probot would otherwise fetch a channel from a third-party relay at run time, and the webhooks of a bot
  // that merges must not pass through one.
  env.NO_SMEE_SETUP = 'true';
  // Without this variable, the manifest would name the page's own address as the webhook's, without our path.
  env.WEBHOOK_PROXY_URL = `${publicUrl ?? `http://localhost:${port}`}${WEBHOOK_PATH}`;
  // In production, Probot refuses to serve the setup page. Our own configuration already decided that there
  // is no App.
  env.NODE_ENV = 'development';
}
