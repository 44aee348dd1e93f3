import { CountersignError } from '../../core/errors.ts';
import type { AppKey } from './sign-in.ts';
import type { Fetch } from './transport.ts';

/** The Octokit that a Probot server authenticated as its App: `await app.auth()`. */
export interface ProbotOctokit {
  auth(options: { type: 'installation'; installationId: number; factory: Factory }): Promise<unknown>;
  readonly request: {
    readonly endpoint: {
      readonly DEFAULTS: { readonly baseUrl: string; readonly request?: { readonly fetch?: Fetch } };
    };
  };
}

type Factory = (options: { appId?: number | string; privateKey?: string }) => unknown;

/** What a Probot server was given for GitHub. */
export interface ProbotApp {
  key: AppKey;
  /** Sends every request, if the server has one of its own. */
  fetch?: Fetch;
  /** The names of Octokit plugins that Probot does not have itself. */
  plugins: readonly string[];
}

/** Of probot 14: `src/octokit/probot-octokit.ts`. */
const PROBOTS_PLUGINS = [
  'throttling',
  'retry',
  'paginateRest',
  'restEndpointMethods',
  'enterpriseCompatibility',
  'probotRequestLogging',
  'config',
];

/**
 * The App of a Probot server, as values: its Octokit class cannot be passed to the engine's thread. Ours has neither Probot's throttling,
 * which allows one write a second, nor its retries, which could merge twice.
 * @throws CountersignError if the server acts as no GitHub App
 */
export async function appOfProbot(own: ProbotOctokit): Promise<ProbotApp> {
  const { appId, privateKey } = await optionsOf(own);
  const id = Number(appId);
  if (!Number.isSafeInteger(id) || id <= 0 || privateKey === undefined) {
    throw new CountersignError(
      'config.no_app',
      'this Probot server has no App ID and private key. Countersign works only as a GitHub App.',
    );
  }
  const { baseUrl, request } = own.request.endpoint.DEFAULTS;
  const { fetch } = request ?? {};
  const { plugins = [] } = own.constructor as { plugins?: readonly { name: string }[] };
  return {
    key: { appId: id, privateKey, apiUrl: baseUrl },
    ...(fetch && { fetch }),
    plugins: plugins.map(({ name }) => name).filter((name) => !PROBOTS_PLUGINS.includes(name)),
  };
}

/**
 * The options of the server's authentication strategy, which are passed to a factory:
 * https://github.com/octokit/auth-app.js#authoptions. Nothing is requested, so any installation will do.
 */
async function optionsOf(own: ProbotOctokit): Promise<Parameters<Factory>[0]> {
  const options = await own.auth({ type: 'installation', installationId: 1, factory: (given) => given });
  return options as Parameters<Factory>[0];
}
