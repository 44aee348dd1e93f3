import { createHash, randomBytes } from 'node:crypto';
import type { Account } from './world.ts';

/** The App's client, the same in every stand-in. */
export const OAUTH_CLIENT = {
  clientId: 'Iv1.0000000000002329',
  clientSecret: 'stand-in-client-secret-0123456789abcdef',
} as const;

/** https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/refreshing-user-access-tokens */
const TOKEN_LIFE_S = 28_800;
const REFRESH_LIFE_S = 15_897_600;
/** https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app */
const CODE_LIFE_MS = 600_000;

/** A person's token for the App. */
export interface UserToken {
  readonly kind: 'user';
  readonly token: string;
  readonly account: Account;
  readonly expiresAt: Date;
}

interface Code {
  account: Account;
  redirectUri: string | null;
  challenge: string | null;
  expiresAt: number;
}

/** What the form of a token request says. */
type Form = URLSearchParams;
type TokenAnswer = Record<string, string | number>;

/**
 * GitHub's web flow for the tokens of people: codes, tokens and refresh tokens. Codes and refresh tokens work once. Errors are
 * answers with status 200:
 * https://docs.github.com/en/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors
 */
export class OAuth {
  /** Who is signed in to GitHub in the browser that comes next; `undefined`: they press "Cancel". */
  person: Account | undefined;
  readonly #now: () => Date;
  readonly #codes = new Map<string, Code>();
  readonly #tokens = new Map<string, UserToken>();
  readonly #refresh = new Map<string, { account: Account; expiresAt: number }>();

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** Where GitHub sends the browser from its page "Authorize"; `undefined` for a client that it does not know. */
  authorize(query: URLSearchParams): string | undefined {
    const redirectUri = query.get('redirect_uri');
    if (query.get('client_id') !== OAUTH_CLIENT.clientId || redirectUri === null) return undefined;
    const back = new URL(redirectUri);
    const state = query.get('state');
    if (state !== null) back.searchParams.set('state', state);
    if (!this.person) {
      back.searchParams.set('error', 'access_denied');
      back.searchParams.set('error_description', 'The user has denied your application access.');
      return back.href;
    }
    // Only S256 is supported: https://github.blog/changelog/2025-07-14-pkce-support-for-oauth-and-github-app-authentication/
    const challenge = query.get('code_challenge_method') === 'S256' ? query.get('code_challenge') : null;
    const code = randomBytes(10).toString('hex');
    const expiresAt = this.#now().getTime() + CODE_LIFE_MS;
    this.#codes.set(code, { account: this.person, redirectUri, challenge, expiresAt });
    back.searchParams.set('code', code);
    return back.href;
  }

  token(form: Form): TokenAnswer {
    if (
      form.get('client_id') !== OAUTH_CLIENT.clientId ||
      form.get('client_secret') !== OAUTH_CLIENT.clientSecret
    )
      return failed(
        'incorrect_client_credentials',
        'The client_id and/or client_secret passed are incorrect.',
      );
    return form.get('grant_type') === 'refresh_token' ? this.#refreshed(form) : this.#exchanged(form);
  }

  /** The person's token, unless it is unknown or expired. */
  find(token: string): UserToken | undefined {
    const found = this.#tokens.get(token);
    return found && found.expiresAt > this.#now() ? found : undefined;
  }

  /** The person revokes the App's access, or the App's tokens are lost. */
  revoke(account: Account, { keepRefresh = false } = {}): void {
    for (const [key, token] of this.#tokens) if (token.account === account) this.#tokens.delete(key);
    if (keepRefresh) return;
    for (const [key, refresh] of this.#refresh) if (refresh.account === account) this.#refresh.delete(key);
  }

  #exchanged(form: Form): TokenAnswer {
    const code = form.get('code') ?? '';
    const found = this.#codes.get(code);
    this.#codes.delete(code);
    if (!found || found.expiresAt <= this.#now().getTime())
      return failed('bad_verification_code', 'The code passed is incorrect or expired.');
    const redirectUri = form.get('redirect_uri');
    if (redirectUri !== null && redirectUri !== found.redirectUri)
      return failed(
        'redirect_uri_mismatch',
        'The redirect_uri MUST match the registered callback URL for this application.',
      );
    const verifier = form.get('code_verifier') ?? '';
    const fits = createHash('sha256').update(verifier).digest('base64url') === found.challenge;
    if (found.challenge !== null && !fits)
      return failed('bad_verification_code', 'The code passed is incorrect or expired.');
    return this.#issue(found.account);
  }

  #refreshed(form: Form): TokenAnswer {
    const token = form.get('refresh_token') ?? '';
    const found = this.#refresh.get(token);
    this.#refresh.delete(token);
    if (!found || found.expiresAt <= this.#now().getTime())
      return failed('bad_refresh_token', 'The refresh token passed is incorrect or expired.');
    return this.#issue(found.account);
  }

  #issue(account: Account): TokenAnswer {
    const token = `ghu_${randomBytes(18).toString('hex')}`;
    const refresh = `ghr_${randomBytes(38).toString('hex')}`;
    const now = this.#now().getTime();
    const expiresAt = new Date(now + TOKEN_LIFE_S * 1_000);
    this.#tokens.set(token, { kind: 'user', token, account, expiresAt });
    this.#refresh.set(refresh, { account, expiresAt: now + REFRESH_LIFE_S * 1_000 });
    return {
      access_token: token,
      expires_in: TOKEN_LIFE_S,
      refresh_token: refresh,
      refresh_token_expires_in: REFRESH_LIFE_S,
      token_type: 'bearer',
      scope: '',
    };
  }
}

function failed(error: string, description: string): TokenAnswer {
  return {
    error,
    error_description: description,
    error_uri:
      'https://docs.github.com/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors',
  };
}
