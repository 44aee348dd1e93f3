import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/rest';
import type { Log } from '../../core/log.ts';
import type { Fetch } from './transport.ts';

export interface SignInDeps {
  appId: number;
  privateKey: string;
  apiUrl: string;
  userAgent: string;
  log: Log;
}

/** An installation's token, requested on demand and used for an hour. The app itself signs its own. */
export interface SignIn {
  octokit(): Octokit;
  /** Drops the token, so that the next request asks for a new one. */
  again(): void;
}

/** @param fetch for token requests; other requests pass their own */
export function createSignIn(
  { log, ...deps }: SignInDeps,
  installationId: number | undefined,
  fetch: Fetch,
): SignIn {
  const quiet = {
    debug() {},
    info() {},
    warn: (message: string) => log.warn({ installation: installationId }, message),
    error() {},
  };
  const signedIn = () =>
    new Octokit({
      authStrategy: createAppAuth,
      auth: {
        appId: deps.appId,
        privateKey: deps.privateKey,
        ...(installationId !== undefined && { installationId }),
      },
      baseUrl: deps.apiUrl,
      userAgent: deps.userAgent,
      log: quiet,
      request: { fetch, log: quiet },
    });
  let octokit = signedIn();
  return {
    octokit: () => octokit,
    again() {
      octokit = signedIn();
    },
  };
}
