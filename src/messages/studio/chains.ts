import { html } from 'hono/html';
import type { Chain } from '../../domain/chain/chain.ts';
import { CHAIN_STATUSES, type ChainStatus, type StoredChain } from '../../domain/chain/stored.ts';
import { nameOfTrigger, triggersOf } from '../../domain/chain/trigger-schema.ts';
import type { Run, RunStatus } from '../../domain/run/run.ts';
import type { ShippedChain } from '../../ports/chain-tools.ts';
import type { ScheduleRow } from '../../ports/firings.ts';
import type { ChainUse, StepTime } from '../../ports/operations.ts';
import { definedIn } from '../run/defined-in.ts';
import { stepFigures } from '../run/step-times.ts';
import { chainPath } from './chain-path.ts';
import { stepGraph } from './graph.ts';
import type { Html } from './layout.ts';
import { dataTable, filterForm, time } from './parts.ts';
import { said, saidLines } from './untrusted.ts';

const STATE_WORDS = { active: 'Active', paused: 'Paused', disabled: 'Disabled' } as const;

const STATUS_WORDS = {
  active: 'Active',
  paused: 'Paused: starts no run',
  disabled: 'Disabled: counts as removed',
} as const;

/** What the list of chains is limited to, as its address says. */
export interface ChainListQuery {
  text?: string | undefined;
  repository?: string | undefined;
  state?: ChainStatus | undefined;
}

/** The chains of the repositories that somebody sees, and those that ship. */
export function chainsPage({
  uses,
  stored,
  shipped,
  query,
}: {
  uses: readonly (ChainUse & { state: ChainStatus })[];
  stored: readonly StoredChain[];
  shipped: readonly ShippedChain[];
  query: ChainListQuery;
}): Html {
  const isFiltered = Object.values(query).some((value) => value !== undefined);
  return html`<h1>Chains</h1>
${filters(query)}
<p><a href="/chains/check">Check a chain</a></p>
${
  uses.length === 0
    ? html`<p class="empty">${isFiltered ? 'No such chain has run.' : html`No chain has run yet. The shipped chain <b>pr-review</b> begins with the next pull request in a repository with this App.`}</p>`
    : dataTable(
        ['Chain', 'Repository', 'State', 'Runs', 'Succeeded', 'Last run'],
        uses.map((use) => [
          chainLink(use.chain),
          said(use.repository, 150),
          STATE_WORDS[use.state],
          total(use),
          success([use]),
          time(use.newest.at),
        ]),
      )
}
${stored.length === 0 ? '' : html`<h2>Stored on this server</h2>${storedTable(stored)}`}
${
  shipped.length === 0
    ? ''
    : html`<h2>Shipped with Countersign</h2>
${dataTable(
  ['Chain', 'Runs', 'What it does'],
  shipped.map(({ chain, onlyIfNamed }) => [
    chainLink(chain.name),
    onlyIfNamed ? 'Where the settings name it' : 'Where no settings name others',
    said(chain.description ?? '', 300),
  ]),
)}`
}`;
}

function filters({
  text = '',
  repository = '',
  state = '',
}: { [Name in keyof ChainListQuery]: string | undefined }): Html {
  return filterForm('/chains', [
    { kind: 'search', name: 'text', label: 'Chain or repository', value: text },
    { kind: 'text', name: 'repository', label: 'Repository', value: repository },
    {
      kind: 'choice',
      name: 'state',
      label: 'State',
      value: state,
      choices: [['', 'any'], ...CHAIN_STATUSES.map((one) => [one, STATE_WORDS[one]] as const)],
    },
  ]);
}

/** One chain over all of these repositories. */
export function chainPage({
  name,
  newest,
  definition,
  shipped,
  uses,
  stored,
  steps,
  schedules,
  csrf,
  isReadOnly,
  form,
}: {
  name: string;
  newest: Run | undefined;
  /** As its newest run has it, or else as it is stored here or ships. */
  definition: Chain | undefined;
  shipped: ShippedChain | undefined;
  uses: readonly (ChainUse & { state: ChainStatus })[];
  stored: readonly StoredChain[];
  steps: readonly StepTime[];
  schedules: readonly ScheduleRow[];
  /** For those who may change its status. */
  csrf: string | undefined;
  /** For those who see everything and change nothing. */
  isReadOnly: boolean;
  /** To try and to fire it, for those who signed in. */
  form: Html | undefined;
}): Html {
  const own = stored.find((row) => row.definition !== null)?.definition;
  return html`<p><a href="/chains">Chains</a></p>
<h1>${name}</h1>
${definition ? html`<p>Begins with ${triggersOf(definition).map((trigger, at) => html`${at === 0 ? '' : ', '}<code>${said(nameOfTrigger(trigger), 200)}</code>`)}.${newest ? html` <a href="/runs/${newest.id}/configuration">Its definition, as its newest run has it</a>${newest.facts.defined === undefined ? '' : html`: ${said(definedIn(newest.facts.defined), 300)}, for ${said(newest.repository, 150)}`}.` : ''}</p>` : ''}
${newest ? stepGraph(newest.definition.steps, `Steps of ${name}, as its newest run has them`) : shipped ? stepGraph(shipped.chain.steps, `Steps of ${name}, as it ships`) : ''}
${
  uses.length === 0
    ? html`<p>It has not run yet.</p>`
    : html`<p>${success(uses)} of the runs that ended have succeeded.</p>
${dataTable(
  ['Repository', 'State', 'Runs', 'Succeeded', 'Last run'],
  uses.map((use) => [
    said(use.repository, 150),
    STATE_WORDS[use.state],
    total(use),
    success([use]),
    html`<a href="/runs/${use.newest.id}">${time(use.newest.at)}</a>`,
  ]),
)}`
}
${
  steps.length === 0
    ? ''
    : html`<h2>How long its steps take</h2>
<p class="quiet">From begin to end, with all waiting, in the newest 100 runs that ended.</p>
${stepTimes(steps)}`
}
${form ?? ''}
${schedules.length === 0 ? '' : html`<h2>Next firings</h2><ul>${schedules.map((row) => html`<li>${said(row.repository, 150)}: ${time(row.nextAt)} <small>${said(row.trigger, 100)}</small></li>\n`)}</ul>`}
${csrf === undefined ? '' : statusForms(name, placesOf(uses, stored), csrf)}
${stored.length === 0 ? '' : html`<h2>Stored on this server</h2>${storedTable(stored)}${isReadOnly ? html`<p>Read-only: here, nobody can pause or resume it. <code>countersign chain pause</code> does that on the command line.</p>` : ''}`}
${own == null ? '' : html`<h2>Definition on this server</h2><pre tabindex="0">${saidLines(own)}</pre>`}
${shipped === undefined ? '' : html`<h2>Definition that ships with Countersign</h2><p class="quiet">A file of the same name in a repository replaces it there.</p><pre tabindex="0">${shipped.text}</pre>`}
<p><a href="/chains/check?chain=${name}">Check a change of this chain</a></p>`;
}

function chainLink(name: string): Html {
  return html`<a href="${chainPath(name)}">${name}</a>`;
}

function storedTable(stored: readonly StoredChain[]): Html {
  return dataTable(
    ['Chain', 'Where', 'Status', 'Defined', 'Changed'],
    stored.map((row) => [
      chainLink(row.name),
      placeOf(row),
      STATUS_WORDS[row.status],
      row.definition === null ? 'In files' : 'Here',
      time(row.updatedAt),
    ]),
  );
}

function placeOf({ owner, repository }: Pick<StoredChain, 'owner' | 'repository'>): string {
  return said(repository === null ? `all of ${owner}` : `${owner}/${repository}`, 150);
}

const ACTIONS = { active: 'Resume', paused: 'Pause', disabled: 'Disable' } as const;

/** Where a chain can be paused: in one repository, or in all of an owner. */
export interface ChainPlace {
  owner: string;
  /** `null`: all of the owner. */
  repository: string | null;
  status: ChainStatus;
}

/** Where somebody can pause a chain: where it ran, and where something is stored about it. */
export function placesOf(
  uses: readonly (ChainUse & { state: ChainStatus })[],
  stored: readonly StoredChain[],
): ChainPlace[] {
  const places = new Map<string, ChainPlace>();
  for (const { repository: full, state } of uses) {
    const [owner = '', repository = ''] = full.split('/');
    places.set(full.toLowerCase(), { owner, repository, status: state });
  }
  for (const { owner, repository, status } of stored)
    places.set(keyOf({ owner, repository }).toLowerCase(), { owner, repository, status });
  return [...places.values()];
}

/** A place in a form: `owner/name`, or `owner/*`. */
export function keyOf({ owner, repository }: Pick<ChainPlace, 'owner' | 'repository'>): string {
  return `${owner}/${repository ?? '*'}`;
}

/** Forms that a page has room for; the command line has no such limit. */
const MOST_PLACES = 50;

function statusForms(name: string, places: readonly ChainPlace[], csrf: string): Html | '' {
  if (places.length === 0) return '';
  return html`<h2>Pause or resume it</h2>
<p class="quiet">A paused chain starts no run; a disabled one counts as removed. Runs that have begun go on.</p>
${places.slice(0, MOST_PLACES).map((place) => statusForm(name, place, csrf))}${places.length > MOST_PLACES ? html`<p class="quiet">For the others, use <code>countersign chain pause</code>.</p>` : ''}`;
}

function statusForm(name: string, place: ChainPlace, csrf: string): Html {
  const others = CHAIN_STATUSES.filter((status) => status !== place.status);
  return html`<form class="actions" method="post" action="${chainPath(name)}">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="place" value="${keyOf(place)}">
<span>${placeOf(place)}: ${STATE_WORDS[place.status]}</span>
${others.map((status) => html`<button name="status" value="${status}">${ACTIONS[status]} for ${placeOf(place)}</button>\n`)}</form>
`;
}

const UNFINISHED: ReadonlySet<RunStatus> = new Set([
  'running',
  'waiting_ci',
  'waiting_approval',
  'waiting_until',
]);

function total({ runs }: ChainUse): number {
  return Object.values(runs).reduce((sum, count) => sum + count, 0);
}

function success(uses: readonly ChainUse[]): string {
  let [ended, completed] = [0, 0];
  for (const { runs } of uses) {
    completed += runs.completed ?? 0;
    for (const [status, count] of Object.entries(runs))
      if (!UNFINISHED.has(status as RunStatus)) ended += count;
  }
  return ended === 0 ? '–' : `${Math.round((100 * completed) / ended)} %`;
}

function stepTimes(times: readonly StepTime[]): Html {
  return dataTable(
    ['Step', 'Runs', 'Median', '95th percentile'],
    stepFigures(times).map(({ id, runs, medianMs, p95Ms }) => [
      said(id, 60),
      runs,
      seconds(medianMs),
      seconds(p95Ms),
    ]),
  );
}

function seconds(ms: number): string {
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return ms < 3_600_000 ? `${(ms / 60_000).toFixed(1)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
}
