import { html } from 'hono/html';
import { RUN_STATUSES, type RunStatus } from '../../domain/run/run.ts';
import type { RunLine } from '../../ports/overview.ts';
import { plural } from '../text/pretty.ts';
import type { Html } from './layout.ts';
import { address, ago, filterForm, nextPage, RUN_STATUS_WORDS, runState } from './parts.ts';
import { prose, said } from './untrusted.ts';

/** The lists of the inbox. */
export const INBOX_LISTS = ['yours', 'others', 'stopped'] as const;
export type InboxList = (typeof INBOX_LISTS)[number];

/** A run in the inbox. */
export interface InboxItem {
  line: RunLine;
  /** The state as the check run says it; absent if the run cannot be read. */
  sentence: string | undefined;
  /** Since when the question waits, or when the run began or ended. */
  since: Date;
  /** Who may answer, as Markdown; only for a question. */
  who?: string;
  /** Why the viewer cannot answer it, if that is certain. */
  cannot?: string;
}

export interface InboxSection {
  list: InboxList;
  items: readonly InboxItem[];
  count: number;
  /** There are more than were counted. */
  atLeast: boolean;
  /** Where the list goes on, or where all of it is. */
  next: string | undefined;
}

/** As in the address. */
export interface InboxQuery {
  show: InboxList | undefined;
  q: string;
  repository: string;
  chain: string;
  state: string;
  author: string;
  within: string;
}

export const WITHIN_DAYS = ['1', '7', '30', '90'] as const;

interface InboxPage {
  viewer: 'person' | 'anybody';
  sections: readonly InboxSection[];
  query: InboxQuery;
  chains: readonly string[];
  now: Date;
}

/** The first page: what waits for the viewer, for others, and what stopped. */
export function inboxPage({ viewer, sections, query, chains, now }: InboxPage): Html {
  const { show, ...filters } = query;
  const isEmpty = sections.every(({ items }) => items.length === 0);
  const isFiltered = Object.values(filters).some((value) => value !== '');
  return html`<h1>Inbox</h1>
<nav class="tabs" aria-label="Lists of the inbox"><ul>
<li><a href="${address('/', filters)}"${show === undefined ? html` aria-current="page"` : ''}>Everything</a></li>
${sections.map((section) => html`<li><a href="${address('/', { ...filters, show: section.list })}"${show === section.list ? html` aria-current="page"` : ''}>${TITLES[viewer][section.list]} <span class="count">${countOf(section)}</span></a></li>\n`)}</ul></nav>
${filterForm('/', fieldsOf(query, chains), { show })}
${isEmpty && show === undefined ? nothing(isFiltered) : sections.filter(({ list }) => show === undefined || list === show).map((section) => sectionOf(section, { viewer, isOnly: show !== undefined, now }))}
<p class="quiet keys">Keys: <kbd>j</kbd> and <kbd>k</kbd> move through the list, <kbd>Enter</kbd> opens, <kbd>/</kbd> searches, <kbd>?</kbd> lists all keys.</p>`;
}

const TITLES: Readonly<Record<InboxPage['viewer'], Readonly<Record<InboxList, string>>>> = {
  person: { yours: 'Waiting for you', others: 'Waiting for others', stopped: 'Stopped' },
  anybody: { yours: 'Waiting for an answer', others: 'In progress', stopped: 'Stopped' },
};

const ABOUT: Readonly<Record<InboxPage['viewer'], Readonly<Record<InboxList, string>>>> = {
  person: {
    yours:
      'Open questions that the rules may let you answer. Teams and the authors of commits are read from GitHub when you answer, so the gate can still refuse an answer.',
    others: 'Runs that go on by themselves, and questions that you cannot answer. The oldest come first.',
    stopped:
      'The newest run of each chain for the head of an open pull request that failed, or ended without what it is for. Without a pull request: of the last 14 days.',
  },
  anybody: {
    yours: 'Open questions. The oldest come first.',
    others: 'Runs that go on by themselves. The oldest come first.',
    stopped:
      'The newest run of each chain for the head of an open pull request that failed, or ended without what it is for. Without a pull request: of the last 14 days.',
  },
};

const NONE: Readonly<Record<InboxList, string>> = {
  yours: 'No question waits here.',
  others: 'Nothing is in progress.',
  stopped: 'Nothing has stopped.',
};

function countOf({ count, atLeast }: InboxSection): string {
  return atLeast ? `${count}+` : String(count);
}

function nothing(isFiltered: boolean): Html {
  return isFiltered
    ? html`<p class="empty">Nothing fits these filters. <a href="/">Show everything</a></p>`
    : html`<div class="empty"><p><b>Nothing waits, and nothing has stopped.</b></p>
<p>A run begins when a pull request opens in a repository with this App. All runs, also those that are done, are under <a href="/runs">Runs</a>. To see why one pull request does or does not merge, open its page: it has the path that it has on GitHub, such as <code>/owner/repository/pull/12</code>.</p></div>`;
}

function sectionOf(
  section: InboxSection,
  { viewer, isOnly, now }: { viewer: InboxPage['viewer']; isOnly: boolean; now: Date },
): Html {
  const { list, items, next, count } = section;
  return html`<section aria-labelledby="${list}">
<h2 id="${list}">${TITLES[viewer][list]} <span class="count">${countOf(section)}</span></h2>
${
  items.length === 0
    ? html`<p class="quiet">${next === undefined ? NONE[list] : 'Nothing in this part of the list.'}</p>`
    : html`<p class="quiet">${ABOUT[viewer][list]}</p>
<ul class="items">
${items.map((item) => itemOf(item, list, now))}</ul>`
}
${isOnly ? nextPage(next) : next === undefined ? '' : html`<p><a href="${next}">Show all ${plural(count, 'run')}${section.atLeast ? ' and more' : ''}</a></p>`}
</section>`;
}

function itemOf({ line, sentence, since, who, cannot }: InboxItem, list: InboxList, now: Date): Html {
  const { repository, pullRequest, chain, id, status, reasonCode, title, author } = line;
  const place =
    pullRequest === null
      ? html`<a class="main" href="/runs/${id}">${repository} <b>${said(chain, 100)}</b></a>`
      : html`<a class="main" href="/${repository}/pull/${pullRequest}">${repository}#${pullRequest} <b>${title === null ? '' : said(title, 120)}</b></a>`;
  return html`<li>
<p class="head">${place} ${runState(status, reasonCode)}</p>
<p>${sentence === undefined ? RUN_STATUS_WORDS[status] : said(sentence, 300)}</p>
<p class="quiet"><a href="/runs/${id}">${said(chain, 100)}</a>${author ? html` · by ${said(author.login, 60)}` : ''} · ${list === 'stopped' ? 'ended' : who === undefined ? 'begun' : 'since'} ${ago(since, now)}${who === undefined ? '' : html` · who may answer: ${prose(who.replaceAll('**', ''))}`}${cannot === undefined ? '' : html` · not you: this account ${cannot}`}</p>
</li>
`;
}

function fieldsOf({ q, repository, chain, state, author, within }: InboxQuery, chains: readonly string[]) {
  const known = chain === '' || chains.includes(chain) ? chains : [chain, ...chains];
  const asChoice = (name: string): [string, string] => [name, said(name, 100)];
  return [
    { kind: 'search', name: 'q', label: 'Search', value: q },
    { kind: 'text', name: 'repository', label: 'Repository', value: repository },
    {
      kind: 'choice',
      name: 'chain',
      label: 'Chain',
      value: chain,
      choices: [['', 'all'], ...known.map(asChoice)],
    },
    {
      kind: 'choice',
      name: 'state',
      label: 'State',
      value: state,
      choices: [
        ['', 'all'],
        ...RUN_STATUSES.filter(isListed).map((one): [string, string] => [one, RUN_STATUS_WORDS[one]]),
      ],
    },
    { kind: 'text', name: 'author', label: 'Author', value: author },
    {
      kind: 'choice',
      name: 'within',
      label: 'Begun',
      value: within,
      choices: [
        ['', 'at any time'],
        ...WITHIN_DAYS.map((days): [string, string] => [days, `within ${plural(Number(days), 'day')}`]),
      ],
    },
  ] as const;
}

/** Cancelled runs are in none of the lists. */
function isListed(status: RunStatus): boolean {
  return status !== 'cancelled';
}
