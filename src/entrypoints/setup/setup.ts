import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gitHubPages } from '../../config/addresses.ts';
import { type AppManifest, readAppManifest } from '../../config/app-manifest.ts';
import { namesAnApp, type SetupConfig } from '../../config/config.ts';
import { readEnvFile, setInEnvFile, unwritable } from '../../config/env-file.ts';
import { CountersignError, messageOf } from '../../core/errors.ts';
import { localUrl } from '../../core/loopback.ts';
import { PACKAGE_ROOT } from '../../core/package-root.ts';
import { neverShowSecretsOf } from '../../core/redact/redact.ts';
import type { Finding } from '../../domain/self-check/finding.ts';
import {
  alreadyRegistered,
  cannotKeepSettings,
  cannotOfferSetup,
  noManifest,
  portTaken,
  secondApp,
  setupFailed,
  setupRefused,
} from '../../messages/cli/process.ts';
import {
  registeredPage,
  registerPage,
  SETUP_ROLLOUTS,
  type SetupErrors,
  type SetupFields,
  setupForm,
  setupPage,
} from '../../messages/setup/setup.ts';
import { type Guard, refusedFor } from './browser-guard.ts';
import { type Choice, convert, type Registered, readChoice, registrationForm } from './registration.ts';

export interface SetupDeps {
  /** The env file for the App's credentials. */
  file: string;
  onRegistered(): void;
  /** Checks the App whose credentials are in the file. */
  selfCheck(): Promise<Finding[]>;
}

const PAGE = '/setup';
const CONTINUE = '/setup/continue';
const RETURN = '/setup/registered';
const STYLE = '/setup/style.css';
const MAX_BODY_BYTES = 16 * 1024;
/** Forms whose pages on GitHub lead back here; older ones are forgotten. */
const MAX_BEGUN = 50;

/** A form that somebody sent. Each tab has its own, so one cannot change what another has chosen. */
interface Begun {
  state: string;
  choice: Choice;
  /** Where GitHub sends the person back to. */
  redirectUrl: string;
}

/**
 * Serves the page that registers the App on GitHub from `app.yml`, and writes the App's credentials to an env file, once.
 * @returns the page's address, once it listens
 * @throws CountersignError if the credentials exist already or cannot be written, or the page cannot listen
 */
export async function offerSetup(config: SetupConfig, deps: SetupDeps): Promise<string> {
  const app = readAppManifest();
  if (!app) throw new CountersignError('setup.no_manifest', noManifest(PACKAGE_ROOT));
  const because = unwritable(deps.file);
  if (because !== undefined)
    throw new CountersignError('setup.cannot_keep', cannotKeepSettings(deps.file, because));
  refuseSecond(deps.file);

  const begun: Begun[] = [];
  const guard: Guard = {
    host: config.host,
    statePaths: [CONTINUE, RETURN],
    states: () => begun.map(({ state }) => state),
    maxBodyBytes: MAX_BODY_BYTES,
  };
  const answer = createPages(config, app, begun, deps);
  const server = createServer(
    { headersTimeout: 5_000, requestTimeout: 15_000 },
    async (request, response) => {
      const { method = '', headers } = request;
      const url = URL.parse(request.url ?? '', 'http://localhost');
      const refusal = url === null ? 'host' : refusedFor({ method, url, headers }, guard);
      if (url === null || refusal !== undefined)
        return respond(response, 403, setupRefused(refusal ?? 'host'));
      try {
        await answer(request, url, response);
      } catch (error) {
        const failed = setupFailed(messageOf(error));
        process.stderr.write(failed);
        if (!response.headersSent) respond(response, 500, failed.trimEnd());
      }
    },
  );
  try {
    server.listen(config.port, config.host);
    await once(server, 'listening');
  } catch (error) {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    const because = isTaken ? portTaken(config.port) : messageOf(error);
    throw new CountersignError('http.cannot_listen', cannotOfferSetup(because));
  }
  return localUrl(config.host, (server.address() as AddressInfo).port);
}

/** @throws CountersignError if the file names an App already */
function refuseSecond(file: string): void {
  if (namesAnApp(readEnvFile(file))) throw new CountersignError('setup.registered', alreadyRegistered(file));
}

function createPages(config: SetupConfig, app: AppManifest, begun: Begun[], deps: SetupDeps) {
  const given = { apiUrl: config.githubApiUrl, pages: gitHubPages(config.githubApiUrl) };
  const blank = {
    github: given.pages,
    organisation: '',
    name: app.name,
    address: config.publicUrl ?? '',
    rollout: 'enforce' as const,
  };
  const style = readFileSync(join(PACKAGE_ROOT, 'studio/studio.css'), 'utf8');
  /** The App whose code GitHub sent first, from when its credentials are asked for. */
  let registration: { code: string; app: Promise<Registered['app']> } | undefined;

  return async (request: IncomingMessage, { pathname, searchParams }: URL, response: ServerResponse) => {
    const isForm = request.method === 'POST';
    if (pathname === '/' && !isForm) return lead(response, PAGE);
    if (pathname === STYLE && !isForm)
      return void response.writeHead(200, { 'content-type': 'text/css; charset=utf-8' }).end(style);
    if (pathname === CONTINUE && !isForm) {
      if (registration) return lead(response, PAGE);
      return showRegister(formOf(searchParams), response);
    }
    if (pathname === RETURN && !isForm) {
      await takeBack(formOf(searchParams).choice, searchParams.get('code') ?? '');
      return lead(response, PAGE);
    }
    if (pathname !== PAGE) return respond(response, 404, 'Not found');
    if (registration) return showRegistered(await registration.app, response);
    if (isForm) return choose(request, response);
    showForm(response, 200, begun.at(-1)?.choice ?? blank);
  };

  /** @throws if there is none, which the guard has ruled out */
  function formOf(parameters: URLSearchParams): Begun {
    const form = begun.find(({ state }) => state === parameters.get('state'));
    if (!form) throw new Error('nobody sent this form');
    return form;
  }

  async function choose(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(request));
    const value = (name: keyof SetupFields) => (form.get(name) ?? '').trim();
    const fields: SetupFields = {
      github: value('github'),
      organisation: value('organisation'),
      name: value('name'),
      address: value('address'),
      rollout: SETUP_ROLLOUTS.find((level) => level === value('rollout')) ?? 'enforce',
    };
    const read = readChoice(fields, given);
    if (!read.ok) return showForm(response, 422, fields, read.errors);
    refuseSecond(deps.file);
    const state = randomBytes(32).toString('base64url');
    // The guard compared the origin with the host of this page.
    begun.push({ state, choice: read.choice, redirectUrl: `${request.headers.origin}${RETURN}` });
    if (begun.length > MAX_BEGUN) begun.shift();
    // A page of its own, so that the browser's back button leads to it without sending the form again.
    lead(response, `${CONTINUE}?${new URLSearchParams({ state })}`);
  }

  function showRegister({ choice, redirectUrl, state }: Begun, response: ServerResponse): void {
    const { action, manifest } = registrationForm(choice, { app, redirectUrl, state });
    show(response, 200, registerPage({ action, manifest, fields: choice }), choice.github);
  }

  /** Takes a code once, also if the page is loaded again while GitHub is asked. A code that failed can be tried again. */
  async function takeBack(choice: Choice, code: string): Promise<void> {
    if (registration === undefined) {
      const taken = { code, app: register(choice, code) };
      registration = taken;
      taken.app.catch(() => {
        registration = undefined;
      });
    } else if (registration.code !== code) {
      throw new CountersignError('setup.second', secondApp((await registration.app).name));
    }
    await registration.app;
  }

  async function register(choice: Choice, code: string): Promise<Registered['app']> {
    refuseSecond(deps.file);
    const converted = await convert(choice, code);
    neverShowSecretsOf(converted.values);
    setInEnvFile(deps.file, {
      ...converted.values,
      ...(choice.address !== config.publicUrl && { PUBLIC_URL: choice.address }),
      ...(choice.rollout !== 'enforce' && { COUNTERSIGN_ROLLOUT: choice.rollout }),
      ...(choice.apiUrl !== config.githubApiUrl && { GITHUB_API_URL: choice.apiUrl }),
    });
    deps.onRegistered();
    return converted.app;
  }

  async function showRegistered(of: Registered['app'], response: ServerResponse): Promise<void> {
    const findings = await deps.selfCheck();
    show(response, 200, registeredPage({ app: of, file: deps.file, findings }));
  }

  function showForm(
    response: ServerResponse,
    status: number,
    fields: SetupFields,
    errors: SetupErrors = {},
  ): void {
    show(response, status, setupForm(fields, errors, app.default_permissions));
  }
}

/** @param formsGoTo another site to which a form of the page is sent */
function show(
  response: ServerResponse,
  status: number,
  step: Parameters<typeof setupPage>[0],
  formsGoTo = '',
): void {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    'img-src data:',
    `form-action 'self' ${formsGoTo}`.trim(),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  response
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.join('; '),
      'x-content-type-options': 'nosniff',
      // With `no-referrer`, browsers send forms with `Origin: null`, which the guard refuses.
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
    })
    .end(String(setupPage(step, STYLE)));
}

function lead(response: ServerResponse, path: string): void {
  response.writeHead(303, { location: path }).end();
}

function respond(response: ServerResponse, status: number, words: string): void {
  response
    .writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'x-frame-options': 'DENY' })
    .end(`${words}\n`);
}
