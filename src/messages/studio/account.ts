import { html } from 'hono/html';
import { plural } from '../text/pretty.ts';
import type { Html } from './layout.ts';
import { ago, wide } from './parts.ts';
import { tokensSection } from './tokens.ts';

export const ACCOUNT = '/account';
export const SIGN_OUT_EVERYWHERE = '/account/sign-out-everywhere';

/** Where a person is signed in, and which programs they let in. */
export function accountPage({
  login,
  csrf,
  sessions,
  made,
  tokens,
  now,
}: {
  login: string;
  csrf: string;
  /** Newest first. */
  sessions: readonly { signedInAt: Date; seenAt: Date; isThis: boolean }[];
  /** The token that was just made. */
  made: Html | undefined;
  tokens: Omit<Parameters<typeof tokensSection>[0], 'csrf' | 'now'>;
  now: Date;
}): Html {
  return html`${made ?? ''}<h1>${login}</h1>
<section aria-labelledby="sessions"><h2 id="sessions">Where you are signed in</h2>
<p>You are signed in to Studio in ${plural(sessions.length, 'browser')}. A browser that sends no request for a day is signed out, and each one after two weeks.</p>
${wide(
  'Where you are signed in',
  html`<table><thead><tr><th scope="col">Browser</th><th scope="col">Signed in</th><th scope="col">Last seen</th></tr></thead><tbody>
${sessions.map(({ signedInAt, seenAt, isThis }) => html`<tr><td>${isThis ? html`<b>this one</b>` : 'another one'}</td><td>${ago(signedInAt, now)}</td><td>${ago(seenAt, now)}</td></tr>\n`)}</tbody></table>`,
)}
<form class="actions" method="post" action="${SIGN_OUT_EVERYWHERE}">
<input type="hidden" name="csrf" value="${csrf}">
<button class="danger">Sign out everywhere</button>
</form>
<p class="quiet">Pages that are open elsewhere stop following what happens within a minute. To take all rights away from the App, revoke it under Applications in your settings on GitHub. Tokens go on until you revoke them.</p>
</section>
${tokensSection({ ...tokens, csrf, now })}`;
}
