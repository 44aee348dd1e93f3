import { html } from 'hono/html';
import { EFFECT_STATUSES, type EffectStatus } from '../../domain/effect/effect.ts';
import type { Run } from '../../domain/run/run.ts';
import type { EffectOutline, ModelDay, QueuedJobs } from '../../ports/operations.ts';
import {
  DELIVERY_STATUSES,
  type Delivery,
  type DeliveryStatus,
  type DeliverySummary,
} from '../../ports/storage.ts';
import { capital } from '../text/pretty.ts';
import { budgetPart, healthPart, type ShownHealth } from './health.ts';
import type { Html } from './layout.ts';
import { dataTable, time } from './parts.ts';
import { said } from './untrusted.ts';

const TABS = {
  overview: ['/operations', 'Overview'],
  deliveries: ['/operations/deliveries', 'Deliveries'],
  effects: ['/operations/effects', 'Effects'],
  settings: ['/operations/settings', 'Settings'],
} as const;

/** The pages of operators. */
export function operationTabs(here: keyof typeof TABS): Html {
  return html`<nav class="tabs" aria-label="Operations"><ul>
${Object.entries(TABS).map(([name, [path, words]]) => html`<li><a href="${path}"${name === here ? html` aria-current="page"` : ''}>${words}</a></li>\n`)}</ul></nav>`;
}

/** What an operator sees first: what failed, what waits, what was spent. */
export function operationsPage({
  deliveries,
  effects,
  jobs,
  spending,
  fault,
  health,
  owners,
  now,
}: {
  deliveries: Record<DeliveryStatus, number>;
  effects: Record<EffectStatus, number>;
  jobs: readonly QueuedJobs[];
  spending: readonly ModelDay[];
  /** Why the database does not answer. */
  fault: string | undefined;
  health: ShownHealth;
  /** Of installations. */
  owners: ReadonlyMap<number, string>;
  now: Date;
}): Html {
  return html`<h1>Operations</h1>
${operationTabs('overview')}
${healthPart(health, fault)}
${budgetPart(health, owners)}
<h2>Deliveries</h2>
<ul class="counts">${DELIVERY_STATUSES.map((status) => html`<li><a href="/operations/deliveries?status=${status}">${capital(status)}</a>: ${deliveries[status]}</li>\n`)}</ul>
<h2>Effects</h2>
<ul class="counts">${EFFECT_STATUSES.map((status) => html`<li><a href="/operations/effects?status=${status}">${capital(status)}</a>: ${effects[status]}</li>\n`)}</ul>
<h2>Queue</h2>
${
  jobs.length === 0
    ? html`<p>No jobs.</p>`
    : dataTable(
        ['Kind', 'Due', 'Held by a worker', 'Later', 'Tried before', 'Wait for GitHub', 'Oldest'],
        jobs.map((job) => [
          job.kind,
          job.due,
          job.held,
          job.later,
          job.retried,
          job.outage,
          job.oldest ? time(job.oldest) : '',
        ]),
      )
}
<h2>Model spending</h2>
${
  spending.length === 0
    ? html`<p>No model was asked in the last 14 days.</p>`
    : dataTable(
        ['Day', 'Model', 'Calls', 'Failed', 'Tokens', 'Cost'],
        spending.map((day) => [day.day, said(day.model, 100), day.calls, day.failed, day.tokens, cost(day)]),
      )
}
<p class="quiet">As of ${time(now)}.</p>`;
}

function cost({ cost, unpriced }: ModelDay): string {
  const dollars = `$${(cost / 1_000_000).toFixed(2)}`;
  return unpriced === 0 ? dollars : `${dollars}, without ${unpriced} calls of unknown cost`;
}

/** Deliveries, newest first. */
export function deliveriesPage({
  deliveries,
  status,
  event,
  next,
}: {
  deliveries: readonly DeliverySummary[];
  status: DeliveryStatus | undefined;
  event: string | undefined;
  /** The last number on this page, if there are more. */
  next: number | undefined;
}): Html {
  const query = new URLSearchParams({ ...(status && { status }), ...(event !== undefined && { event }) });
  if (next !== undefined) query.set('before', String(next));
  return html`<h1>Deliveries</h1>
${operationTabs('deliveries')}
<form class="filters" method="get" action="/operations/deliveries" role="search">
<label>Status <select name="status"><option value="">All</option>
${DELIVERY_STATUSES.map((one) => html`<option value="${one}"${one === status ? html` selected` : ''}>${capital(one)}</option>\n`)}</select></label>
<label>Event <input name="event" value="${event ?? ''}" autocomplete="off"></label>
<button>Filter</button>
</form>
${
  deliveries.length === 0
    ? html`<p>No deliveries.</p>`
    : dataTable(
        ['Delivery', 'Event', 'Status', 'Attempts', 'Received', 'Error'],
        deliveries.map((one) => [
          html`<a href="/operations/deliveries/${encodeURIComponent(one.guid)}">${said(one.guid, 60)}</a>`,
          said(one.action === null ? one.event : `${one.event}.${one.action}`, 100),
          capital(one.status),
          one.attempts,
          time(one.receivedAt),
          said(one.error ?? '', 200),
        ]),
      )
}
${next === undefined ? '' : html`<nav aria-label="Further pages"><a rel="next" href="/operations/deliveries?${query.toString()}">Next page</a></nav>`}`;
}

/** One delivery with the runs that it began. */
export function deliveryPage({
  delivery,
  runs,
  csrf,
}: {
  delivery: Delivery;
  runs: readonly Run[];
  /** For those who may have it processed again. */
  csrf: string | undefined;
}): Html {
  const isOver = delivery.status === 'done' || delivery.status === 'failed';
  return html`<h1>Delivery <small>${said(delivery.guid, 60)}</small></h1>
<dl class="facts">
<dt>Event</dt><dd>${said(delivery.action === null ? delivery.event : `${delivery.event}.${delivery.action}`, 100)}</dd>
<dt>Status</dt><dd>${capital(delivery.status)}</dd>
<dt>Attempts</dt><dd>${delivery.attempts}</dd>
<dt>Received</dt><dd>${time(delivery.receivedAt)}</dd>
<dt>Finished</dt><dd>${delivery.finishedAt ? time(delivery.finishedAt) : 'Not yet'}</dd>
<dt>Installation</dt><dd>${delivery.installationId ?? 'None'}</dd>
<dt>Size</dt><dd>${delivery.body.length} bytes</dd>
${delivery.error === null ? '' : html`<dt>Error</dt><dd>${said(delivery.error)}</dd>`}
</dl>
${
  csrf !== undefined && isOver
    ? html`<form method="post" action="/operations/deliveries/${encodeURIComponent(delivery.guid)}/replay">
<input type="hidden" name="csrf" value="${csrf}">
<button>Process it again</button>
</form>`
    : ''
}
<h2>Runs</h2>
${
  runs.length === 0
    ? html`<p>It began no runs.</p>`
    : html`<ul>${runs.map((run) => html`<li><a href="/runs/${run.id}">${said(run.chain, 100)}</a> ${capital(run.status)}</li>\n`)}</ul>`
}`;
}

/** The effects of one status. */
export function effectsPage({
  effects,
  status,
  counts,
  next,
}: {
  effects: readonly EffectOutline[];
  status: EffectStatus;
  counts: Record<EffectStatus, number>;
  next: string | undefined;
}): Html {
  const query = new URLSearchParams({ status, ...(next !== undefined && { before: next }) });
  return html`<h1>Effects</h1>
${operationTabs('effects')}
<nav aria-label="Statuses"><ul class="counts">
${(['failed', 'pending', 'done'] as const).map((one) => html`<li><a href="/operations/effects?status=${one}"${one === status ? html` aria-current="page"` : ''}>${capital(one)}</a> ${counts[one]}</li>\n`)}</ul></nav>
${status === 'done' ? html`<p class="quiet">Those of runs that are archived are on the page of their run.</p>` : ''}
${
  effects.length === 0
    ? html`<p>No effects.</p>`
    : dataTable(
        ['Effect', 'Key', 'Attempts', 'Changed', 'Run', 'Error'],
        effects.map((one) => [
          one.kind,
          said(one.key, 200),
          one.attempts,
          time(one.updatedAt),
          one.runId === null ? '' : html`<a href="/runs/${one.runId}">Run</a>`,
          said(one.error ?? '', 300),
        ]),
      )
}
${next === undefined ? '' : html`<nav aria-label="Further pages"><a rel="next" href="/operations/effects?${query.toString()}">Next page</a></nav>`}`;
}
