import { CountersignError } from '../../core/errors.ts';
import type { OctokitOptions, OctokitSource } from './sign-in.ts';
import type { Fetch } from './transport.ts';

/** The Octokit that a Probot server authenticated as its App: `await app.auth()`. */
export interface ProbotOctokit {
  auth(options: { type: 'app' }): Promise<unknown>;
  readonly request: {
    readonly endpoint: {
      readonly DEFAULTS: { readonly baseUrl: string; readonly request?: { readonly fetch?: Fetch } };
    };
  };
}

/**
 * Octokit instances with the options that a Probot server was given: its App, its address of GitHub, its `fetch` and its
 * plugins, without throttling and retries. Probot's throttling allows one write a second, and its retries could
 * merge twice.
 * @throws CountersignError if the server acts as no GitHub App
 */
export async function octokitsOfProbot(own: ProbotOctokit): Promise<OctokitSource & { apiUrl: string }> {
  // Every Octokit that a server makes is of the class that has its options as defaults:
  // `getProbotOctokitWithDefaults` in probot 14.
  const Octokit = own.constructor as new (
    options: OctokitOptions & ProbotOptions,
  ) => ReturnType<OctokitSource['create']>;
  const appId = await appIdOf(own);
  const { baseUrl, request } = own.request.endpoint.DEFAULTS;
  const { fetch } = request ?? {};
  return {
    appId,
    apiUrl: baseUrl,
    ...(fetch && { fetch }),
    create: (installationId, options) =>
      new Octokit({
        ...options,
        auth: { cache: new TokenCache(), ...(installationId !== undefined && { installationId }) },
        throttle: { enabled: false },
        retry: { enabled: false },
      }),
  };
}

interface ProbotOptions {
  auth: { cache: TokenCache; installationId?: number };
  throttle: { enabled: false };
  retry: { enabled: false };
}

/**
 * Instead of the server's cache, which would return a token that GitHub has just refused:
 * https://github.com/octokit/auth-app.js#createappauthoptions
 */
class TokenCache {
  readonly #tokens = new Map<string, string>();

  get(key: string): string | undefined {
    return this.#tokens.get(key);
  }
  set(key: string, value: string): void {
    this.#tokens.set(key, value);
  }
}

async function appIdOf(octokit: ProbotOctokit): Promise<number> {
  const signedIn = await octokit.auth({ type: 'app' }).catch(() => undefined);
  const appId = Number((signedIn as { appId?: number | string } | undefined)?.appId);
  if (Number.isSafeInteger(appId) && appId > 0) return appId;
  throw new CountersignError(
    'config.no_app',
    'this Probot server has no App ID and private key, or the key is wrong. Countersign works only as a GitHub App.',
  );
}
