import { type ApiToken, isUsable } from '../../domain/api-token/api-token.ts';
import { plainLine } from '../../domain/run/explain.ts';
import { utc } from '../text/pretty.ts';
import { PLAIN, type Screen } from '../text/screen.ts';
import { table } from './table.ts';
import { ago } from './terminal.ts';

/** `token create`: the only time that the token is shown. */
export function tokenCreated({ id, expiresAt }: ApiToken, secret: string): string {
  return `${secret}\n\nKeep it now: it is not shown again. It expires at ${utc(expiresAt)}; "countersign token revoke ${id}" ends it earlier.`;
}

export function tokenTable(tokens: readonly ApiToken[], now: Date, screen: Screen = PLAIN): string {
  if (tokens.length === 0) return 'There are no tokens; "countersign token create" makes one.';
  return table(
    [
      'id',
      'name',
      { heading: 'owner', leftOut: 2 },
      { heading: 'scopes', leftOut: 4 },
      { heading: 'repositories', leftOut: 3 },
      { heading: 'state', whole: true },
      { heading: 'last used', leftOut: 1 },
    ],
    tokens.map((token) => [
      token.id,
      plainLine(token.name),
      token.owner?.login ?? 'operator',
      token.scopes.join(', '),
      token.repositoryIds === null ? 'all' : String(token.repositoryIds.length),
      stateOf(token, now),
      token.usedAt === null ? 'never' : ago(token.usedAt, now),
    ]),
    { screen },
  );
}

function stateOf(token: ApiToken, now: Date): string {
  if (token.revokedAt !== null) return 'revoked';
  return isUsable(token, now) ? `until ${utc(token.expiresAt)}` : 'expired';
}

export function tokenRevoked(id: string): string {
  return `The token ${plainLine(id)} no longer works.`;
}

export function noToken(id: string): string {
  return `There is no token ${plainLine(id)} that still works; countersign token list shows all.`;
}

export function noRepository(name: string): string {
  return `Nothing has run in a repository ${plainLine(name)} yet, so no token can be limited to it.`;
}
