import type { ApiToken } from '../domain/api-token/api-token.ts';

export interface ApiTokens {
  insert(token: ApiToken): Promise<void>;
  byHash(hash: string): Promise<ApiToken | undefined>;
  /** Newest first. */
  all(): Promise<ApiToken[]>;
  /** Those that the person made: first those that can be used, each the newest first. */
  ofOwner(ownerId: number, now: Date, limit: number): Promise<ApiToken[]>;
  /** How many the person made that can be used. */
  countUsable(ownerId: number, now: Date): Promise<number>;
  /** Removes those of the person that nobody could use since a time. */
  removeOver(ownerId: number, since: Date): Promise<void>;
  /** False if there is no such token, or it is revoked already. @param ownerId only if that person made it */
  revoke(id: string, at: Date, ownerId?: number): Promise<boolean>;
  used(id: string, at: Date): Promise<void>;
}
