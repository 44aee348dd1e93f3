import { html } from 'hono/html';
import type { Html } from '../layout.ts';
import type { AtHead } from '../untrusted.ts';

/** Where a card links to. */
export interface CardLinks extends AtHead {
  /** The page of the artifact, which shows everything. Absent on that page. */
  artifact?: string;
}

export interface CardOptions {
  links: CardLinks;
  /** How long the session took. */
  durationMs?: number | undefined;
  /** How many entries of a list are shown. */
  limit?: number;
  /** Of the card's heading; those inside follow it. */
  level?: 2 | 3;
}

/** The options as the cards read them. */
export type CardFrame = Required<Pick<CardOptions, 'links' | 'limit' | 'level'>> & CardOptions;

/** How a result is to be taken; also says it in words, because colours alone say nothing to many. */
export type Tone = 'good' | 'bad' | 'wait' | 'plain';

const MARK: Readonly<Record<Tone, string>> = { good: '✓', bad: '✗', wait: '◷', plain: '•' };

export function label(tone: Tone, words: Html | string): Html {
  return html`<span class="label ${tone}"><span aria-hidden="true">${MARK[tone]}</span> ${words}</span>`;
}

/** The tone and the word of `passed`. */
export function passedLabel(passed: boolean | null): Html {
  if (passed === null) return label('plain', 'no verdict');
  return passed ? label('good', 'passed') : label('bad', 'not passed');
}

export function heading(level: number, words: Html | string): Html {
  switch (level) {
    case 2:
      return html`<h2>${words}</h2>`;
    case 3:
      return html`<h3>${words}</h3>`;
    default:
      return html`<h4>${words}</h4>`;
  }
}

/** One card. */
export function framed(
  { level }: Pick<CardFrame, 'level'>,
  { name, labels, summary, body }: { name: string; labels: Html; summary: Html; body: Html },
): Html {
  return html`<article class="card">
${heading(level, name)}
<p class="labels">${labels}</p>
<p>${summary}</p>
${body}
</article>`;
}

/** The first entries of a list, and how many more there are. */
export function listOf<T>(
  items: readonly T[],
  render: (item: T) => Html | string,
  { limit, links, kind }: Pick<CardFrame, 'limit' | 'links'> & { kind?: string },
): Html {
  if (items.length === 0) return html``;
  return html`<ul${kind === undefined ? '' : html` class="${kind}"`}>
${items.slice(0, limit).map((item) => html`<li>${render(item)}</li>\n`)}</ul>${more(items.length - limit, links)}`;
}

/** `… and 12 more`, with where they are. */
export function more(left: number, { artifact }: CardLinks): Html {
  if (left <= 0) return html``;
  const words = `… and ${left} more`;
  return html`<p class="quiet">${artifact === undefined ? words : html`<a href="${artifact}">${words}</a>`}</p>`;
}

/** What is shown only once somebody opens it. */
export function folded(summary: Html | string, body: Html): Html {
  return html`<details><summary>${summary}</summary>${body}</details>`;
}
