import { html } from 'hono/html';
import type { Html } from './layout.ts';

/**
 * A part of a page that the server keeps up to date. Without JavaScript, it stays as it was sent.
 * @param address of its events, with what the page already shows
 */
export function livePart({ address, nonce, part }: { address: string; nonce: string; part: Html }): Html {
  // A failed start of the stream must not replace the part. What is gone is replaced by "not found".
  return html`<div hx-sse:connect="${address}" hx-trigger="load, again" hx-sse:close="end" hx-target="#live" hx-swap="innerMorph" hx-status:5xx="swap:none" hx-nonce="${nonce}"></div>
<div id="live">
${part}
</div>`;
}
