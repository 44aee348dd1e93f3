import { html } from 'hono/html';
import { type ApiToken, isUsable } from '../../domain/api-token/api-token.ts';
import { plural } from '../text/pretty.ts';
import { field, type Given } from './field.ts';
import type { Html } from './layout.ts';
import { ago, dataTable, time } from './parts.ts';
import { said } from './untrusted.ts';

/** Where tokens are made. One is revoked at `/<id>/revoke` below. */
export const TOKENS = '/account/tokens';

export const MOST_TOKENS = 20;
export const MOST_REPOSITORIES = 20;
export const MOST_NAME = 60;

/** How many days a token can be used. */
export const TOKEN_DAYS = [7, 30, 90, 365] as const;

/** What somebody wants of a new token. */
export interface TokenFields {
  name: Given;
  /** One a line. */
  repositories: Given;
  days: string;
}

export const WRONG_TOKEN = {
  name: 'Give it a name, such as the program that uses it.',
  noRepositories: 'Name at least one repository as owner/name.',
  tooMany: `Name at most ${MOST_REPOSITORIES} repositories.`,
  form: (text: string) => `“${said(text, 80)}” is no repository. Write owner/name.`,
  tooManyTokens: `You have ${MOST_TOKENS} tokens that can be used. Revoke one first.`,
  tooOften: 'You made many tokens in a short time. Try again in an hour.',
} as const;

/** The person's tokens, and the form for a new one. */
export function tokensSection({
  tokens,
  repositoryNames,
  fields,
  refused,
  csrf,
  now,
}: {
  /** First those that can be used, each the newest first. */
  tokens: readonly ApiToken[];
  /** Of those that the person sees now, by id. */
  repositoryNames: ReadonlyMap<number, string>;
  fields: TokenFields;
  /** Why none was made, if that is not about a field. */
  refused: string | undefined;
  csrf: string;
  now: Date;
}): Html {
  return html`<section aria-labelledby="tokens"><h2 id="tokens">Tokens for the API</h2>
<p>A program reads the <a href="/api/v1/openapi.json">API</a> with a token of yours. It sees the repositories that you name, as long as you see them on GitHub, and changes nothing.</p>
${
  tokens.length === 0
    ? html`<p class="quiet">You have no tokens.</p>`
    : dataTable(
        ['Name', 'Repositories', 'State', 'Made', 'Last used', 'Revoke'],
        tokens.map((token) => [
          said(token.name, MOST_NAME),
          repositoriesOf(token, repositoryNames),
          stateOf(token, now),
          ago(token.createdAt, now),
          token.usedAt === null ? 'never' : ago(token.usedAt, now),
          isUsable(token, now) ? revokeForm(token, csrf) : '',
        ]),
      )
}
<form method="post" action="${TOKENS}">
<input type="hidden" name="csrf" value="${csrf}">
<fieldset class="fields"><legend>Make a token</legend>
${refused === undefined ? '' : html`<p class="wrong" role="alert">${refused}</p>`}
${field({
  id: 'token',
  label: 'Name',
  given: fields.name,
  hint: 'The program that uses it.',
  of: (attributes, value) =>
    html`<input ${attributes} value="${value}" required maxlength="${MOST_NAME}" autocomplete="off">`,
})}
${field({
  id: 'repositories',
  label: 'Repositories',
  given: fields.repositories,
  hint: `owner/name, one a line, at most ${MOST_REPOSITORIES}. Remove those that the program does not need.`,
  of: (attributes, value) =>
    html`<textarea ${attributes} rows="4" required spellcheck="false" maxlength="4000">${value}</textarea>`,
})}
${field({
  id: 'days',
  label: 'Expires',
  given: { value: fields.days },
  hint: undefined,
  of: (attributes, value) =>
    html`<select ${attributes}>
${TOKEN_DAYS.map((days) => html`<option value="${days}"${String(days) === value ? html` selected` : ''}>in ${plural(days, 'day')}</option>\n`)}</select>`,
})}
<p class="buttons"><button class="primary">Make the token</button></p>
</fieldset></form>
</section>`;
}

/** The only time that a token is shown. */
export function madeToken({ name, expiresAt }: ApiToken, secret: string): Html {
  return html`<div class="flash ok" role="status"><p><span aria-hidden="true">✓</span> Your new token <b>${said(name, MOST_NAME)}</b>. Keep it now: it is not shown again. It expires on ${time(expiresAt)}.</p>
<p><code>${secret}</code></p></div>`;
}

function repositoriesOf({ repositoryIds }: ApiToken, names: ReadonlyMap<number, string>): string {
  const ids = repositoryIds ?? [];
  const known = ids.flatMap((id) => names.get(id) ?? []);
  const others = ids.length - known.length;
  return said(
    [...known, ...(others === 0 ? [] : [`${plural(others, 'other')} that you may no longer see`])].join(', '),
    2_000,
  );
}

function stateOf(token: ApiToken, now: Date): Html | string {
  if (token.revokedAt !== null) return 'revoked';
  return isUsable(token, now) ? html`until ${time(token.expiresAt)}` : 'expired';
}

function revokeForm({ id, name }: ApiToken, csrf: string): Html {
  return html`<form method="post" action="${TOKENS}/${id}/revoke">
<input type="hidden" name="csrf" value="${csrf}">
<button class="danger" aria-label="Revoke ${said(name, MOST_NAME)}">Revoke</button></form>`;
}
