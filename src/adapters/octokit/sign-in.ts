import { createPrivateKey } from 'node:crypto';
import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/rest';
import { CountersignError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Fetch } from './transport.ts';

/** What every Octokit of this app is given. */
interface OctokitOptions {
  userAgent: string;
  log: OctokitLog;
  /** Octokit's requests for tokens use it. Other requests pass their own. */
  request: { fetch: Fetch; log: OctokitLog };
}

interface OctokitLog {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** Makes authenticated Octokit instances: with the App's own key, or with what a Probot server was given. */
export interface OctokitSource {
  readonly appId: number;
  /** Sends every request; by default Node's own. */
  readonly fetch?: Fetch;
  /**
   * An Octokit with no token yet, without throttling and retries.
   * @param installationId `undefined` for the app itself
   */
  create(installationId: number | undefined, options: OctokitOptions): Pick<Octokit, 'request'>;
}

export interface AppKey {
  appId: number;
  /** PEM; line ends may be written as `\n`, as in an environment variable. */
  privateKey: string;
  /** `https://api.github.com`, or `https://HOST/api/v3` for GitHub Enterprise Server. */
  apiUrl: string;
}

/** @throws CountersignError if the private key is invalid */
export function octokitsWithKey({ appId, privateKey: pem, apiUrl }: AppKey): OctokitSource {
  const privateKey = pem.replaceAll('\\n', '\n');
  refuseBadKey(privateKey);
  const baseUrl = apiUrl.replace(/\/+$/, '');
  return {
    appId,
    create: (installationId, options) =>
      new Octokit({
        authStrategy: createAppAuth,
        auth: { appId, privateKey, ...(installationId !== undefined && { installationId }) },
        baseUrl,
        ...options,
      }),
  };
}

/**
 * A token of a person's, which reads what that person can read.
 * @param token such as a personal access token, or the one of a GitHub Actions job; without one, what is public is read
 */
export function octokitsWithToken({
  token,
  apiUrl,
}: {
  token: string | undefined;
  apiUrl: string;
}): OctokitSource {
  const baseUrl = apiUrl.replace(/\/+$/, '');
  return {
    appId: NO_APP,
    create: (_, options) => new Octokit({ ...(token !== undefined && { auth: token }), baseUrl, ...options }),
  };
}

/** No App has this id, so nothing on GitHub counts as our own. */
const NO_APP = -1;

function refuseBadKey(privateKey: string): void {
  try {
    createPrivateKey(privateKey);
  } catch (error) {
    throw new CountersignError('config.private_key', 'The private key is not a key in PEM format.', {
      cause: error,
    });
  }
}

/** An installation's token, requested on demand and used for an hour. The app itself signs its own. */
export interface SignIn {
  octokit(): Pick<Octokit, 'request'>;
  /** Drops the token, so that the next request asks for a new one. */
  again(): void;
}

/** @param fetch for token requests; other requests pass their own */
export function createSignIn(
  { source, userAgent, log }: { source: OctokitSource; userAgent: string; log: Log },
  installationId: number | undefined,
  fetch: Fetch,
): SignIn {
  const quiet: OctokitLog = {
    debug() {},
    info() {},
    warn: (message: string) => log.warn({ installation: installationId }, message),
    error() {},
  };
  const signedIn = () =>
    source.create(installationId, { userAgent, log: quiet, request: { fetch, log: quiet } });
  let octokit = signedIn();
  return {
    octokit: () => octokit,
    again() {
      octokit = signedIn();
    },
  };
}
