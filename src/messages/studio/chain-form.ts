import { html } from 'hono/html';
import { type ChainInput, type ChainInputs, inputAllowed } from '../../domain/chain/chain-inputs.ts';
import { plural } from '../text/pretty.ts';
import { chainPath, DRY_RUNS, FIRED } from './chain-path.ts';
import { field, type Given } from './field.ts';
import type { Html } from './layout.ts';
import { said } from './untrusted.ts';

/** What somebody gives to fire or to try a chain, and what is wrong with it. */
interface ChainGiven {
  /** The pull request, or the repository, as they wrote it. */
  on: Given;
  /** By name. */
  inputs: Readonly<Record<string, Given>>;
}

/** What a form about a chain offers. */
export interface ChainFields {
  given: ChainGiven;
  /** Of a chain that somebody fires. */
  inputs: ChainInputs;
  /** Whether people fire it. */
  fires: boolean;
}

/** How long a dry run may take. */
export const LIMIT_MINUTES = 2;

export const NO_SUBJECT =
  'Write a pull request as owner/name#12, or paste its address. Only owner/name stands for the repository without a pull request.';

export function nothingThere(repository: string): string {
  return `You see no repository ${repository} here. Countersign must be installed on it.`;
}

export function unknownPullRequest(number: number): string {
  return `Countersign has not seen pull request ${number} there.`;
}

/** @param because a clause */
export function needsPullRequest(because: string): string {
  return `Name a pull request: ${because}.`;
}

export const WRONG_INPUT = {
  missing: 'This is required.',
  secret: 'This looks like a secret. Everybody who reads the run would see it.',
  quotes: 'Use straight quotes, as in a comment.',
  not: (wanted: string) => `Give ${wanted}.`,
} as const;

export const NO_DRY_RUN = 'No dry run began';

const REFUSALS = {
  too_often: 'You asked for many dry runs in a short time. Try again in some minutes.',
  busy: 'Other people’s dry runs keep this server busy. Try again in a minute or two.',
  own: 'Your last dry run has not ended yet.',
} as const;

/**
 * Fields and buttons, inside a form whose other fields say which chain it is. The key Enter presses the first button,
 * which changes nothing.
 */
export function chainFields({ given, inputs, fires }: ChainFields): Html {
  return html`<fieldset class="fields"><legend>${fires ? 'Fire it by hand' : 'What would it have done?'}</legend>
${field({ id: 'on', label: 'Pull request', given: given.on, hint: undefined, of: onField })}
${Object.entries(inputs).map(([name, input]) =>
  field({
    id: `input.${name}`,
    label: name,
    given: given.inputs[name] ?? { value: String(input.default ?? '') },
    hint: [input.description, inputAllowed(input)].filter(Boolean).join(' · '),
    of: (attributes, value) => inputField(input, attributes, value),
  }),
)}
<p class="buttons"><button formaction="${DRY_RUNS}">Dry run</button>${fires ? html` <button class="primary" formaction="${FIRED}">Fire</button>` : ''}</p>
<p class="quiet">A dry run reads GitHub with your own access and writes nothing. It takes at most ${plural(LIMIT_MINUTES, 'minute')}.${fires ? html` Firing takes the same rights as the command <code>/countersign fire</code>.` : ''}</p>
</fieldset>`;
}

function onField(attributes: Html, value: string): Html {
  return html`<input ${attributes} value="${value}" placeholder="acme/shop#12" autocomplete="off" spellcheck="false" maxlength="300">`;
}

function inputField(
  { type = 'string', choices, required, default: standard }: ChainInput,
  attributes: Html,
  value: string,
): Html {
  const options = choices?.map(String) ?? (type === 'boolean' ? ['true', 'false'] : undefined);
  if (!options)
    return html`<input ${attributes} value="${value}" autocomplete="off"${type === 'number' ? html` inputmode="decimal"` : ''} maxlength="1000">`;
  const none = standard === undefined ? [['', required ? 'Choose …' : 'none'] as const] : [];
  return html`<select ${attributes}>
${[...none, ...options.map((one) => [one, one] as const)].map(
  ([one, words]) =>
    html`<option value="${one}"${one === value ? html` selected` : ''}>${said(words, 100)}</option>\n`,
)}</select>`;
}

/** A form about a chain by its name. */
export function chainForm(chain: string, csrf: string, fields: ChainFields): Html {
  return html`<form method="post" action="${DRY_RUNS}">
<input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="chain" value="${chain}">
${chainFields(fields)}
</form>`;
}

/** The form again, with what was wrong. */
export function chainFormAgain(chain: string, csrf: string, fields: ChainFields): Html {
  return html`<p><a href="${chainPath(chain)}">${chain}</a></p>
<h1>${chain}</h1>
${chainForm(chain, csrf, fields)}`;
}

/** Why a dry run does not begin, and the own one that is in its way. */
export function dryRunRefused(because: keyof typeof REFUSALS, own: string | undefined): Html {
  return html`<h1>${NO_DRY_RUN}</h1>
<p class="flash failed" role="alert">${REFUSALS[because]}${own === undefined ? '' : html` <a href="${DRY_RUNS}/${own}">See how far it is</a>, or stop it there.`}</p>`;
}

export const FIRED_TITLE = 'Fired by hand';

/** What became of a chain that somebody fired, until its run begins. */
export function firedPage(id: string, answer: { ok: boolean; text: string } | null, hasBegun: boolean): Html {
  if (hasBegun)
    return html`<h1>${FIRED_TITLE}</h1>
<p class="next good" role="status">The run has begun. <a href="/runs/${id}" data-go>Open it</a></p>`;
  if (answer?.ok === false)
    return html`<h1>${FIRED_TITLE}</h1>
<p class="next bad" role="alert">${said(answer.text.replaceAll('`', ''), 2_000)}</p>`;
  return html`<h1>${FIRED_TITLE}</h1>
<p class="next wait" role="status">${answer === null ? 'Countersign reads your role and the chain.' : 'The run begins in a moment.'} <a href="${FIRED}/${id}">Reload</a> to see what became of it.</p>`;
}
