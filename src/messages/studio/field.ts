import { html } from 'hono/html';
import type { Html } from './layout.ts';
import { said } from './untrusted.ts';

/** What somebody wrote into a field, and what is wrong with it. */
export interface Given {
  value: string;
  wrong?: string | undefined;
}

/** A field of a form with its label, what it takes, and what is wrong with what somebody gave. */
export function field({
  id,
  label,
  given: { value, wrong },
  hint,
  of,
}: {
  id: string;
  label: string;
  given: Given;
  hint: string | undefined;
  of(attributes: Html, value: string): Html;
}): Html {
  const described = [
    ...(hint === undefined ? [] : [`${id}-hint`]),
    ...(wrong === undefined ? [] : [`${id}-wrong`]),
  ];
  const attributes = html`id="${id}" name="${id}"${described.length === 0 ? '' : html` aria-describedby="${described.join(' ')}"`}${wrong === undefined ? '' : html` aria-invalid="true"`}`;
  return html`<div class="field"><label for="${id}">${said(label, 100)}</label>
${of(attributes, value)}
${hint === undefined ? '' : html`<p class="quiet" id="${id}-hint">${said(hint, 1_000)}</p>`}${wrong === undefined ? '' : html`<p class="wrong" id="${id}-wrong" role="alert">${said(wrong, 1_000)}</p>`}</div>
`;
}
