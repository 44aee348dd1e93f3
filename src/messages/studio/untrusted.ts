import { html } from 'hono/html';
import { safeAddress } from '../text/link.ts';
import { visible } from '../text/markdown.ts';
import { clip } from '../text/pretty.ts';
import type { Html } from './layout.ts';

/** Text of a pull request on one line, with control and bidirectional characters spelled out. The template escapes it. */
export function said(text: string, letters = 500): string {
  return clip(
    visible(
      text
        .slice(0, letters * 8)
        .toWellFormed()
        .replaceAll(/\s+/g, ' '),
    ).trim(),
    letters,
  );
}

/** The same with its lines. */
export function saidLines(text: string): string {
  return visible(text.toWellFormed().replaceAll(/\r\n?|[\u2028\u2029]/g, '\n'));
}

/** The same on one line, with what is in backticks as code. */
export function prose(text: string, letters = 500): Html {
  return html`${said(text, letters)
    .split(/`([^`]+)`/)
    .map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

/**
 * A link to an address that somebody else chose, or only its text if the address is unsafe. The other site learns nothing from
 * it, and gains nothing by it.
 */
export function outwards(address: string | null | undefined, text: Html | string): Html {
  const safe = address == null ? undefined : safeAddress(address);
  return safe === undefined
    ? html`${text}`
    : html`<a href="${safe}" rel="noopener noreferrer nofollow">${text}</a>`;
}

/** Where findings of a run link to. */
export interface AtHead {
  githubUrl: string;
  repository: string;
  headSha: string;
}

/**
 * The lines of a file at the run's head on GitHub. `plain=1` because a rendered Markdown file has no lines.
 * https://docs.github.com/en/get-started/writing-on-github/working-with-advanced-formatting/creating-a-permanent-link-to-a-code-snippet
 */
function lineOnGithub(
  { githubUrl, repository, headSha }: AtHead,
  { file, line, end_line }: { file: string; line?: number | null | undefined; end_line?: number | undefined },
): string {
  const path = [...repository.split('/'), 'blob', headSha, ...file.split('/')].map(segment).join('/');
  if (line == null) return `${githubUrl}/${path}`;
  const last = end_line === undefined || end_line === line ? '' : `-L${end_line}`;
  return `${githubUrl}/${path}?plain=1#L${line}${last}`;
}

/** A part of a path that no browser takes for a step upwards. */
function segment(part: string): string {
  return /^\.\.?$/.test(part) ? part.replaceAll('.', '%252E') : encodeURIComponent(part.toWellFormed());
}

/** `src/db.ts:12` as a link to GitHub, or what there is of it. */
export function placeLink(
  at: AtHead,
  place: { file: string | null; line?: number | null | undefined; end_line?: number | undefined },
): Html {
  const { file, line } = place;
  if (file === null) return html`the change as a whole`;
  const words = said(line == null ? file : `${file}:${line}`, 200);
  return html`<a class="place" href="${lineOnGithub(at, { ...place, file })}"><code>${words}</code></a>`;
}
