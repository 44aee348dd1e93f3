import { html } from 'hono/html';
import { EFFECT_STATUSES, type EffectStatus } from '../../domain/effect/effect.ts';
import type { EffectOutline, ModelDay, QueuedJobs } from '../../ports/operations.ts';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../../ports/storage.ts';
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
