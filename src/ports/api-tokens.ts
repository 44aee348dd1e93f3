import type { ApiToken } from '../domain/api-token/api-token.ts';

export interface ApiTokens {
  insert(token: ApiToken): Promise<void>;
  byHash(hash: string): Promise<ApiToken | undefined>;
  /** Newest first. */
  all(): Promise<ApiToken[]>;
  /** False if there is no such token, or it is revoked already. */
  revoke(id: string, at: Date): Promise<boolean>;
  used(id: string, at: Date): Promise<void>;
}
