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

/** An installation's token, asked for when it is needed and used for its hour; the app itself signs its own. */
export interface SignIn {
  octokit(): Octokit;
  /** Forgets the token: the next request asks for a new one. */
  again(): void;
}

/** @param fetch for tokens; every other request brings its own */
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
