import { randomBytes, verify } from 'node:crypto';
import { ApiError } from './api-error.ts';
import type { OAuth, UserToken } from './oauth.ts';
import type { State } from './state.ts';
import type { Account, Installation, PermissionLevel, Permissions, Repository } from './world.ts';

const TOKEN_LIFE_MS = 3_600_000;
const JWT_LIFE_S = 600;
const CLOCK_DRIFT_S = 60;

/** The id of the installation that stands for a person's token. */
export const READER = 0;
/** The id of the installation that stands for somebody without a token. */
export const NOBODY = -1;
/** https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#primary-rate-limit-for-unauthenticated-users */
export const REQUESTS_OF_NOBODY = 60;

/** Who calls: the app itself with its JWT, one of its installations with a token, or a person with one for the app. */
export type Caller = { kind: 'app' } | Token | UserToken;

export interface Token {
  readonly kind: 'installation';
  readonly token: string;
  readonly installation: Installation;
  readonly permissions: Permissions;
  /** Ids of the repositories that the token is limited to; `undefined` for all of the installation's. */
  readonly repositories: ReadonlySet<number> | undefined;
  readonly expiresAt: Date;
  /** There is none: the public reads. */
  readonly isAnonymous?: true;
  /** Whose own token it is. It reads what both the person and the App can. */
  readonly person?: Account;
}

/**
 * Checks JWTs and issues installation tokens. Both use the machine's clock instead of the injected one, because the clients that
 * sign and cache them do too: a scenario that moves time by a day must not expire every token.
 */
export class Auth {
  readonly #tokens = new Map<string, Token>();
  readonly #publicKey: string;
  readonly #appIds: readonly string[];
  readonly oauth: OAuth;

  constructor(options: { publicKey: string; appIds: readonly string[]; oauth: OAuth }) {
    this.oauth = options.oauth;
    this.#publicKey = options.publicKey;
    this.#appIds = options.appIds;
  }

  issue(
    installation: Installation,
    permissions: Permissions,
    repositories: ReadonlySet<number> | undefined,
  ): Token {
    const token: Token = {
      kind: 'installation',
      token: `ghs_${randomBytes(18).toString('hex')}`,
      installation,
      permissions,
      repositories,
      expiresAt: new Date(Date.now() + TOKEN_LIFE_MS),
    };
    this.#tokens.set(token.token, token);
    return token;
  }

  /** Forgets the tokens of an installation that was removed. */
  revoke(installation: Installation): void {
    for (const [key, token] of this.#tokens)
      if (token.installation === installation) this.#tokens.delete(key);
  }

  /** @throws ApiError 401 for anything but a valid JWT or an unexpired token. */
  identify(header: string | undefined): Caller | undefined {
    if (header === undefined) return undefined;
    const [, credential = ''] = /^(?:bearer|token) (.+)$/i.exec(header) ?? [];
    if (credential.split('.').length === 3) {
      this.#checkJwt(credential);
      return { kind: 'app' };
    }
    const person = this.oauth.find(credential);
    if (person) return person;
    const token = this.#tokens.get(credential);
    if (!token || token.expiresAt.getTime() <= Date.now()) throw new ApiError(401, 'Bad credentials');
    return token;
  }

  #checkJwt(jwt: string): void {
    const [head = '', claims = '', signature = ''] = jwt.split('.');
    const genuine = verify(
      'RSA-SHA256',
      Buffer.from(`${head}.${claims}`),
      this.#publicKey,
      Buffer.from(signature, 'base64url'),
    );
    if (!genuine) throw new ApiError(401, 'A JSON web token could not be decoded');
    const { iss, iat, exp } = decode(claims);
    const now = Date.now() / 1000;
    if (typeof exp !== 'number') throw new ApiError(401, "Missing 'exp' claim in assertion");
    if (exp > now + JWT_LIFE_S + CLOCK_DRIFT_S)
      throw new ApiError(401, "'Expiration time' claim ('exp') is too far in the future");
    if (exp <= now)
      throw new ApiError(
        401,
        "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
      );
    if (typeof iat !== 'number' || iat > now + CLOCK_DRIFT_S)
      throw new ApiError(
        401,
        "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
      );
    if (!this.#appIds.includes(String(iss))) throw new ApiError(404, 'Integration not found');
  }
}

function decode(part: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    throw new ApiError(401, 'A JSON web token could not be decoded');
  }
}

/** Whether the token reaches the repository as an installed app, and not only as the public. */
export function reaches(state: State, token: Token, repository: Repository): boolean {
  return state.covers(token.installation, repository) && (token.repositories?.has(repository.id) ?? true);
}

const LEVELS: readonly PermissionLevel[] = ['read', 'write', 'admin'];

export function allows(permissions: Permissions, name: string, level: PermissionLevel): boolean {
  return LEVELS.indexOf(permissions[name] ?? 'read') >= LEVELS.indexOf(level) && name in permissions;
}
