import { html } from 'hono/html';
import type { Event } from '../../domain/event/event.ts';
import type { Run } from '../../domain/run/run.ts';
import type { DeliveryJob, DeliveryOutline, FoundDeliveries } from '../../ports/operations.ts';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../../ports/storage.ts';
import { capital } from '../text/pretty.ts';
import type { Html } from './layout.ts';
import { operationTabs } from './operations.ts';
import { address, dataTable, exactTime, filterForm, nextPage, runState, time } from './parts.ts';
import { said } from './untrusted.ts';

/** What a list of deliveries is narrowed to, as the address says it. */
export interface DeliveryQuery {
  status: string | undefined;
  event: string | undefined;
  repository: string | undefined;
  text: string | undefined;
}

const PATH = '/operations/deliveries';

/** Deliveries, newest first. */
export function deliveriesPage({ found, query }: { found: FoundDeliveries; query: DeliveryQuery }): Html {
  const { items, next } = found;
  const more = next === undefined ? undefined : address(PATH, { ...query, before: String(next) });
  return html`<h1>Deliveries</h1>
${operationTabs('deliveries')}
${filterForm(PATH, [
  {
    kind: 'choice',
    name: 'status',
    label: 'Status',
    value: query.status ?? '',
    choices: [['', 'All'], ...DELIVERY_STATUSES.map((one) => [one, capital(one)] as const)],
  },
  { kind: 'text', name: 'event', label: 'Event', value: query.event ?? '' },
  { kind: 'text', name: 'repository', label: 'Repository', value: query.repository ?? '' },
  { kind: 'search', name: 'text', label: 'Text', value: query.text ?? '' },
])}
${
  items.length === 0
    ? html`<p>${more === undefined ? 'No deliveries.' : 'None among those that this page looked at. There are older ones.'}</p>`
    : dataTable(
        ['Delivery', 'Event', 'Status', 'Attempts', 'Received', 'Error'],
        items.map((one) => [
          html`<a href="${PATH}/${encodeURIComponent(one.guid)}">${said(one.guid, 60)}</a>`,
          said(eventOf(one), 100),
          capital(one.status),
          one.attempts,
          time(one.receivedAt),
          said(one.error ?? '', 200),
        ]),
      )
}
${nextPage(more)}`;
}

/** What the app reads from a delivery. */
export type ReadAs =
  | { kind: 'events'; events: readonly Event[] }
  | { kind: 'ignored' | 'unreadable'; because: string };

/** What a delivery says, or why this page does not show that. */
export type ShownReading = ReadAs | { kind: 'no_body' | 'too_large' | 'not_connected' | 'damaged' };

/** Why a delivery is not processed again. */
export type ReplayRefused =
  | { kind: 'no_body' | 'damaged' }
  | { kind: 'is_waiting'; status: Extract<DeliveryStatus, 'received' | 'processing'> };

/** Whether the person who looks may have it processed again. */
export type MayReplay = { kind: 'yes'; csrf: string } | { kind: 'read_only' };

/** One delivery: what GitHub sent, what became of it, and what it began. */
export function deliveryPage({
  delivery,
  job,
  reading,
  runs,
  hasMore,
  may,
  refused,
}: {
  delivery: DeliveryOutline & { bodyBytes: number | null };
  job: DeliveryJob | undefined;
  reading: ShownReading;
  runs: readonly Run[];
  hasMore: boolean;
  may: MayReplay;
  /** What became of the attempt to have it processed again that led here. */
  refused: ReplayRefused | undefined;
}): Html {
  const { guid, status, bodyBytes, error } = delivery;
  return html`${refused ? html`<p class="flash failed" role="alert"><span aria-hidden="true">✗</span> ${NOT_REPLAYED[refused.kind]}</p>\n` : ''}<h1>Delivery <small>${said(guid, 60)}</small></h1>
${operationTabs('deliveries')}
<dl class="facts">
<dt>Event</dt><dd>${said(eventOf(delivery), 100)}</dd>
<dt>Status</dt><dd>${STATUS_WORDS[status]}</dd>
<dt>Attempts</dt><dd>${delivery.attempts}</dd>
${job ? html`<dt>Next attempt</dt><dd>${nextAttempt(job)}</dd>\n` : ''}<dt>Received</dt><dd>${exactTime(delivery.receivedAt)}</dd>
<dt>Finished</dt><dd>${delivery.finishedAt ? exactTime(delivery.finishedAt) : 'Not yet'}</dd>
<dt>Installation</dt><dd>${delivery.installationId ?? 'None'}</dd>
<dt>Size</dt><dd>${bodyBytes === null ? 'Deleted' : `${bodyBytes} bytes`}</dd>
${error === null ? '' : html`<dt>Error</dt><dd>${said(error, 2_000)}</dd>\n`}</dl>
<h2>What it says</h2>
${readingPart(reading)}
<h2>Runs</h2>
${
  runs.length === 0
    ? html`<p>No run began with it.</p>`
    : html`<ul>${runs.map((run) => html`<li><a href="/runs/${run.id}">${said(run.chain, 60)}</a> in ${said(run.repository, 100)}${run.pullRequest === null ? '' : ` #${run.pullRequest}`}: ${runState(run.status, run.reason?.code ?? null)}</li>\n`)}</ul>${hasMore ? html`<p>There are more than these.</p>` : ''}`
}
<h2>Process it again</h2>
${replayPart({ delivery, may })}`;
}

const STATUS_WORDS: Readonly<Record<DeliveryStatus, string>> = {
  received: 'Received, waits to be processed',
  processing: 'Processing: an attempt failed, and it is tried again',
  done: 'Done',
  failed: 'Failed: it is not tried again by itself',
};

function nextAttempt({ at, attempts, outageSince, isHeld }: DeliveryJob): Html {
  if (isHeld) return html`A worker has it now`;
  const before = attempts === 0 ? '' : `, after ${attempts} that failed`;
  return html`${exactTime(at)}${before}${outageSince ? html`. GitHub cannot be asked since ${exactTime(outageSince)}` : ''}`;
}

function readingPart(reading: ShownReading): Html {
  switch (reading.kind) {
    case 'events':
      return html`<ul>${reading.events.map((event) => html`<li>${eventLine(event)}</li>\n`)}</ul>`;
    case 'ignored':
      return html`<p>Nothing for this app: ${said(reading.because)}.</p>`;
    case 'unreadable':
      return html`<p><span class="state failed">It cannot be read:</span> ${said(reading.because)}</p>`;
    case 'no_body':
      return html`<p>What GitHub sent is older than RETENTION keeps it.</p>`;
    case 'damaged':
      return html`<p><span class="state failed">What is stored of it is damaged.</span></p>`;
    case 'too_large':
      return html`<p>It is too large to be read for this page.</p>`;
    case 'not_connected':
      return html`<p>This Studio is a process of its own and does not know which App it belongs to, so it cannot say which events these are.</p>`;
  }
}

function eventLine(event: Event): Html {
  if (!('repository' in event)) return html`<code>${event.kind}</code>`;
  const { repository } = event;
  const name = `${repository.owner}/${repository.name}`;
  const number = 'pull_request' in event ? event.pull_request : null;
  const place =
    number === null
      ? html`${said(name, 100)}`
      : html`<a href="/${encodeURIComponent(repository.owner)}/${encodeURIComponent(repository.name)}/pull/${number}">${said(`${name}#${number}`, 100)}</a>`;
  return html`<code>${event.kind}</code> in ${place}`;
}

function replayPart({
  delivery: { guid, status, bodyBytes },
  may,
}: {
  delivery: DeliveryOutline & { bodyBytes: number | null };
  may: MayReplay;
}): Html {
  if (bodyBytes === null) return html`<p>${NOT_REPLAYED.no_body}</p>`;
  if (status === 'received' || status === 'processing') return html`<p>${NOT_REPLAYED.is_waiting}</p>`;
  if (may.kind === 'read_only')
    return html`<p>Read-only: here, nobody can have it processed again. <code>countersign delivery replay</code> does that on the command line.</p>`;
  return html`<form class="actions" method="post" action="${PATH}/${encodeURIComponent(guid)}/replay">
<input type="hidden" name="csrf" value="${may.csrf}">
<button>Process it again</button>
</form>
<p class="quiet">The app reads it as if GitHub had sent it now. What it did already, it does not do twice.</p>`;
}

/** https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks */
const AT_GITHUB =
  'GitHub itself keeps deliveries for three days; the settings of the App on GitHub let you have one sent again.';

const NOT_REPLAYED: Readonly<Record<ReplayRefused['kind'], string>> = {
  no_body: `What GitHub sent is older than RETENTION keeps it, so it cannot be processed again. ${AT_GITHUB}`,
  damaged: `What is stored of it is damaged, so it cannot be processed again. ${AT_GITHUB}`,
  is_waiting: 'It waits to be processed already, so there is nothing to do again.',
};

function eventOf({ event, action }: Pick<DeliveryOutline, 'event' | 'action'>): string {
  return action === null ? event : `${event}.${action}`;
}
