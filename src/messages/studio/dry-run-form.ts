import { html } from 'hono/html';
import { plural } from '../text/pretty.ts';
import { chainPath, DRY_RUNS } from './chain-path.ts';
import type { Html } from './layout.ts';

/** What somebody gives for a dry run, and what is wrong with it. */
export interface DryRunGiven {
  /** The pull request, as they wrote it. */
  on: string;
  wrong?: string | undefined;
}

export const NO_SUBJECT =
  'Write a pull request as owner/name#12, or paste its address. Only owner/name plays the chain without a pull request.';

export function nothingThere(repository: string): string {
  return `You see no repository ${repository} here. Countersign must be installed on it.`;
}

export const NO_DRY_RUN = 'No dry run began';

const REFUSALS = {
  too_often: 'You asked for many dry runs in a short time. Try again in some minutes.',
  busy: 'Other people’s dry runs keep this server busy. Try again in a minute or two.',
  own: 'Your last dry run has not ended yet.',
} as const;

/** The field and the button, inside a form whose other fields say which chain it is. */
export function dryRunFields({ on, wrong }: DryRunGiven): Html {
  return html`<fieldset class="fields"><legend>What would it have done?</legend>
<label for="on">Pull request</label>
<input id="on" name="on" value="${on}" placeholder="acme/shop#12" autocomplete="off" spellcheck="false" maxlength="300"${
    wrong === undefined ? '' : html` aria-invalid="true" aria-describedby="on-wrong"`
  }>
${wrong === undefined ? '' : html`<p class="flash failed" id="on-wrong" role="alert">${wrong}</p>`}
<p class="quiet">A dry run reads GitHub with your own access and writes nothing. It takes at most ${plural(LIMIT_MINUTES, 'minute')}.</p>
<button formaction="${DRY_RUNS}">Dry run</button>
</fieldset>`;
}

/** How long a dry run may take. */
export const LIMIT_MINUTES = 2;

/** A dry run of a chain by its name. */
export function dryRunForm(chain: string, csrf: string, given: DryRunGiven): Html {
  return html`<form method="post" action="${DRY_RUNS}">
<input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="chain" value="${chain}">
${dryRunFields(given)}
</form>`;
}

/** The form again, with what was wrong. */
export function dryRunAgain(chain: string, csrf: string, given: DryRunGiven): Html {
  return html`<p><a href="${chainPath(chain)}">${chain}</a></p>
<h1>Dry run of ${chain}</h1>
${dryRunForm(chain, csrf, given)}`;
}

/** Why a dry run does not begin, and the own one that is in its way. */
export function dryRunRefused(because: keyof typeof REFUSALS, own: string | undefined): Html {
  return html`<h1>${NO_DRY_RUN}</h1>
<p class="flash failed" role="alert">${REFUSALS[because]}${own === undefined ? '' : html` <a href="${DRY_RUNS}/${own}">See how far it is</a>, or stop it there.`}</p>`;
}
