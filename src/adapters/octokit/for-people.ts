import type { AuthorizationServer, Client as OAuthClient } from 'oauth4webapi';
import { z } from 'zod';
import { bounded } from '../../core/bounded-fetch.ts';
import type { Clock } from '../../core/clock.ts';
import { neverShowForNow } from '../../core/redact/redact.ts';
import { GitHubError } from '../../ports/github.ts';
import {
  type BegunSignIn,
  type GitHubForPeople,
  type PersonTokens,
  SignInFailed,
  TokenRefused,
} from '../../ports/github-person.ts';
import { type Fetch, redirected } from './transport.ts';

export interface PeopleOptions {
  clientId: string;
  clientSecret: string;
  /** GitHub's pages: `https://github.com`, or `https://HOST` for GitHub Enterprise Server. */
  pagesUrl: string;
  apiUrl: string;
  clock: Clock;
  fetch?: Fetch;
}

/** People wait for the answer. */
const TIMEOUT_MS = 8_000;
const LARGEST_ANSWER_BYTES = 8 * 1024 * 1024;
const PER_PAGE = 100;
/** Of installations, and of repositories altogether. */
const MAX_PAGES = 50;

/** Some servers add more, which nothing here depends on. */
const ANSWERED = ['code', 'state', 'error', 'error_description'];

const ownerSchema = z.object({ id: z.int(), login: z.string() });
const installationsSchema = z.object({
  installations: z.array(z.object({ id: z.int(), suspended_at: z.string().nullish() })),
});
const repositoriesSchema = z.object({ repositories: z.array(z.object({ id: z.int() })) });
const refusalSchema = z.object({ message: z.string() });

/**
 * The web flow of the App, and requests with the tokens that it gives. Plain requests instead of Octokit: each token
 * belongs to another person, and no answer about one may be reused for another.
 * https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
 */
export async function gitHubForPeople(options: PeopleOptions): Promise<GitHubForPeople> {
  const oauth = await import('oauth4webapi');
  const { clientId, clientSecret, pagesUrl, clock } = options;
  const apiUrl = options.apiUrl.replace(/\/+$/, '');
  // A repository that was renamed is followed on the same host only, because the token is sent along.
  const fetch = redirected(
    bounded(options.fetch ?? globalThis.fetch, { timeoutMs: TIMEOUT_MS, maxBytes: LARGEST_ANSWER_BYTES }),
  );
  const server: AuthorizationServer = {
    issuer: `${pagesUrl}/login/oauth`,
    authorization_endpoint: `${pagesUrl}/login/oauth/authorize`,
    token_endpoint: `${pagesUrl}/login/oauth/access_token`,
  };
  const client: OAuthClient = { client_id: clientId };
  const authentication = oauth.ClientSecretPost(clientSecret);
  const settings = {
    [oauth.customFetch]: (url: string, init: object) => reached(() => fetch(url, init)),
    // The settings allow plain HTTP for this machine only.
    [oauth.allowInsecureRequests]: pagesUrl.startsWith('http:'),
  };

  /** GitHub says why it gives no token in an answer with status 200. */
  async function tokensIn(
    response: Response,
    read: (response: Response) => Promise<{
      access_token: string;
      expires_in?: number | undefined;
      refresh_token?: string | undefined;
    }>,
  ): Promise<PersonTokens> {
    refuseUnavailable(response);
    const answer = await read(response);
    neverShowForNow("a person's token", answer.access_token);
    if (answer.refresh_token !== undefined) neverShowForNow("a person's token", answer.refresh_token);
    const { expires_in: seconds } = answer;
    return {
      access: answer.access_token,
      accessUntil: seconds === undefined ? null : new Date(clock.now().getTime() + seconds * 1_000),
      refresh: answer.refresh_token ?? null,
    };
  }

  async function send(token: string, path: string, body?: object): Promise<Response> {
    const response = await reached(() =>
      fetch(`${apiUrl}${path}`, {
        method: body ? 'POST' : 'GET',
        headers: {
          accept: 'application/vnd.github+json',
          authorization: `Bearer ${token}`,
          'user-agent': 'countersign-studio',
          'x-github-api-version': '2022-11-28',
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
    if (response.status === 401) throw new TokenRefused('GitHub does not accept the token of the person');
    refuseUnavailable(response);
    return response;
  }

  async function read<T>(token: string, path: string, schema: z.ZodType<T>): Promise<T> {
    const response = await send(token, path);
    if (!response.ok) throw unavailable(response.status, `GitHub answered ${response.status}`);
    const parsed = schema.safeParse(await response.json().catch(() => undefined));
    if (!parsed.success) throw unavailable(response.status, 'GitHub answered something else than expected');
    return parsed.data;
  }

  /** The entries of a list, page by page, as long as `most` pages are left. */
  async function* pages<T>(
    token: string,
    path: string,
    schema: z.ZodType<T[]>,
    left: { pages: number },
  ): AsyncGenerator<T[]> {
    for (let page = 1; left.pages > 0; page++) {
      left.pages -= 1;
      const found = await read(token, `${path}?per_page=${PER_PAGE}&page=${page}`, schema);
      yield found;
      if (found.length < PER_PAGE) return;
    }
  }

  return {
    newSecrets: () => ({
      state: oauth.generateRandomState(),
      verifier: oauth.generateRandomCodeVerifier(),
    }),

    async authorizeUrl({ redirectUri, state, verifier }) {
      const url = new URL(`${pagesUrl}/login/oauth/authorize`);
      const query = {
        client_id: clientId,
        redirect_uri: redirectUri,
        state,
        // https://github.blog/changelog/2025-07-14-pkce-support-for-oauth-and-github-app-authentication/
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      };
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
      return url.href;
    },

    async exchange(answer, { redirectUri, state, verifier }: BegunSignIn) {
      try {
        const accepted = oauth.validateAuthResponse(server, client, only(answer, ANSWERED), state);
        const response = await oauth.authorizationCodeGrantRequest(
          server,
          client,
          authentication,
          accepted,
          redirectUri,
          verifier,
          settings,
        );
        return await tokensIn(response, (given) =>
          oauth.processAuthorizationCodeResponse(server, client, given),
        );
      } catch (error) {
        if (error instanceof GitHubError) throw error;
        const denied = error instanceof oauth.AuthorizationResponseError && error.error === 'access_denied';
        throw new SignInFailed(denied ? 'denied' : 'refused', 'GitHub signed nobody in', { cause: error });
      }
    },

    async refresh(refreshToken) {
      try {
        const response = await oauth.refreshTokenGrantRequest(
          server,
          client,
          authentication,
          refreshToken,
          settings,
        );
        return await tokensIn(response, (given) => oauth.processRefreshTokenResponse(server, client, given));
      } catch (error) {
        if (error instanceof GitHubError) throw error;
        throw new TokenRefused('GitHub gives no new token for the person', { cause: error });
      }
    },

    owner: (token) => read(token, '/user', ownerSchema),

    async repositoryIds(token) {
      const ids: number[] = [];
      const left = { pages: MAX_PAGES };
      const installations = installationsSchema.transform((page) => page.installations);
      const repositories = repositoriesSchema.transform((page) => page.repositories);
      for await (const page of pages(token, '/user/installations', installations, { pages: MAX_PAGES })) {
        for (const { id, suspended_at } of page) {
          if (typeof suspended_at === 'string') continue;
          const path = `/user/installations/${id}/repositories`;
          try {
            for await (const found of pages(token, path, repositories, left)) {
              ids.push(...found.map((repository) => repository.id));
            }
          } catch (error) {
            // An organisation can refuse the person, as without its single sign-on. The others still show theirs.
            if (!(error instanceof GitHubError && [403, 404].includes(error.status))) throw error;
          }
        }
      }
      return ids;
    },

    async react(token, { owner, name }, commentId, content) {
      const repo = `${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;
      const response = await send(token, `/repos/${repo}/issues/comments/${commentId}/reactions`, {
        content,
      });
      if (response.ok) return { kind: 'done' };
      const said = refusalSchema.safeParse(await response.json().catch(() => undefined));
      return { kind: 'refused', message: said.success ? said.data.message : `status ${response.status}` };
    },
  };
}

function only(all: URLSearchParams, names: readonly string[]): URLSearchParams {
  return new URLSearchParams([...all].filter(([name]) => names.includes(name)));
}

/** @throws GitHubError if there is no answer */
async function reached(send: () => Promise<Response>): Promise<Response> {
  try {
    return await send();
  } catch (error) {
    throw unavailable(0, 'GitHub does not answer', error);
  }
}

/** Only what another attempt can change. A 403 about the rate limit names the limit that is spent. */
function refuseUnavailable({ status, headers }: Response): void {
  const isLimited =
    status === 429 ||
    (status === 403 && (headers.get('x-ratelimit-remaining') === '0' || headers.has('retry-after')));
  if (status >= 500 || isLimited) throw unavailable(status, `GitHub answered ${status}`);
}

function unavailable(status: number, message: string, cause?: unknown): GitHubError {
  return new GitHubError('unavailable', status, message, undefined, { cause });
}
