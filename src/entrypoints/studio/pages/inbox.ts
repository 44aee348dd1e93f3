import { Hono } from 'hono';
import { tightened } from '../../../domain/policy/countersign-rules.ts';
import { cannotAnswerBecause } from '../../../domain/policy/may-answer.ts';
import { isRunOver, RUN_STATUSES } from '../../../domain/run/run.ts';
import { sentence } from '../../../messages/run/run-sentence.ts';
import { runSummary } from '../../../messages/run/run-summary.ts';
import { whoMayAnswer } from '../../../messages/run/who-may-answer.ts';
import {
  INBOX_LISTS,
  type InboxItem,
  type InboxList,
  type InboxQuery,
  type InboxSection,
  inboxPage,
  WITHIN_DAYS,
} from '../../../messages/studio/inbox.ts';
import { address } from '../../../messages/studio/parts.ts';
import {
  type LinePosition,
  MOST_LINES_COUNTED,
  type OpenQuestion,
  type OverviewFilter,
  type RunLine,
} from '../../../ports/overview.ts';
import type { ReadTx } from '../../../ports/storage.ts';
import type { Visible } from '../../../ports/visible.ts';
import { answerPage, type Env, type Request, type StudioParts } from '../frame.ts';
import type { Viewer } from '../viewer.ts';

/** Of each list on the page of all lists, and on a page of its own. */
const FEW = 10;
const PAGE = 50;
/** The most runs that one request sorts into what waits for the viewer and what does not. */
const SCANNED = 200;
/** In milliseconds: a failed run without a pull request is of interest so long. */
const RECENT_MS = 14 * 86_400_000;
const DAY_MS = 86_400_000;

type Line = RunLine & { question?: OpenQuestion | undefined };

/** The first page. */
export function inboxPages(parts: StudioParts): Hono<Env> {
  const pages = new Hono<Env>();

  pages.get('/', async (context) => {
    const { read } = parts.storage;
    const viewer = context.get('viewer');
    const visible = context.get('visible');
    const now = parts.clock.now();
    const query = queryOf(context);
    const filter = filterOf(query, visible, now);
    const otherSince = new Date(now.getTime() - RECENT_MS);
    const { show, ...filters } = query;
    const after = show && positionOf(context.req.query('after'));
    const limit = show === undefined ? FEW : PAGE;

    const counts = await read.overview.counts(filter, { otherSince });
    // The whole of it decides the count, so it begins at the start of the list.
    const asking = await read.overview.active(filter, { after: undefined, limit: SCANNED, asking: true });
    const mine = await sortOut(read, visible, viewer, asking);
    const yours = mine.filter(({ cannot }) => cannot === undefined);

    const lists: Record<InboxList, { lines: Sorted[]; next: LinePosition | undefined }> = {
      yours: { lines: [], next: undefined },
      others: { lines: [], next: undefined },
      stopped: { lines: [], next: undefined },
    };
    if (show === undefined || show === 'yours') {
      const found =
        after === undefined
          ? mine
          : await sortOut(
              read,
              visible,
              viewer,
              await read.overview.active(filter, { after, limit: SCANNED, asking: true }),
            );
      lists.yours = cut(found, ({ cannot }) => cannot === undefined, limit, SCANNED);
    }
    if (show === undefined || show === 'others') {
      const lines = await read.overview.active(filter, { after, limit: SCANNED });
      const sorted = await sortOut(read, visible, viewer, lines);
      lists.others = cut(
        sorted,
        ({ line, cannot }) => !line.question || cannot !== undefined,
        limit,
        SCANNED,
      );
    }
    if (show === undefined || show === 'stopped') {
      const lines = await read.overview.stopped(filter, { after, limit: limit + 1, otherSince });
      const sorted = lines.map((line) => ({ line, cannot: undefined }));
      lists.stopped = cut(
        sorted,
        () => true,
        limit,
        limit + 1,
        ({ changedAt }) => changedAt,
      );
    }

    const described = await describe(
      read,
      Object.values(lists).flatMap(({ lines }) => lines),
    );
    const isCut = asking.length === SCANNED;
    const count: Record<InboxList, [number, boolean]> = {
      yours: [yours.length, isCut],
      others: [Math.max(0, counts.active - yours.length), isCut || counts.active === MOST_LINES_COUNTED],
      stopped: [counts.stopped, counts.stopped === MOST_LINES_COUNTED],
    };
    const sections = INBOX_LISTS.map((list): InboxSection => {
      const { lines, next } = lists[list];
      const goesOn = show === undefined ? address('/', { ...filters, show: list }) : undefined;
      return {
        list,
        items: lines.map(described),
        count: count[list][0],
        atLeast: count[list][1],
        next: next && (goesOn ?? address('/', { ...filters, show, after: cursorOf(next) })),
      };
    });
    const main = inboxPage({
      viewer: viewer.kind === 'person' ? 'person' : 'anybody',
      sections,
      query,
      chains: await read.overview.chains(visible, 200),
      now,
    });
    return answerPage(parts, context, { title: 'Inbox', main });
  });

  return pages;
}

function queryOf({ req }: Request): InboxQuery {
  const text = (name: string) => (req.query(name) ?? '').trim().slice(0, 200);
  const one = <Choice extends string>(name: string, choices: readonly Choice[]) =>
    choices.find((choice) => choice === req.query(name));
  return {
    show: one('show', INBOX_LISTS),
    q: text('q'),
    repository: text('repository'),
    chain: text('chain'),
    state: one('state', RUN_STATUSES) ?? '',
    author: text('author').replace(/^@/, ''),
    within: one('within', WITHIN_DAYS) ?? '',
  };
}

function filterOf(query: InboxQuery, visible: Visible, now: Date): OverviewFilter {
  const { q, repository, chain, author, within } = query;
  const status = RUN_STATUSES.find((one) => one === query.state);
  return {
    visible,
    ...(q !== '' && { text: q }),
    ...(repository !== '' && { repository }),
    ...(chain !== '' && { chain }),
    ...(status && { status }),
    ...(author !== '' && { author }),
    ...(within !== '' && { since: new Date(now.getTime() - Number(within) * DAY_MS) }),
  };
}

/** A run, and why the viewer cannot answer its question. */
interface Sorted {
  line: Line;
  cannot: string | undefined;
}

/** Who pushed is read for all of them at once, from what webhooks said. */
async function sortOut(
  read: ReadTx,
  visible: Visible,
  viewer: Viewer,
  lines: readonly Line[],
): Promise<Sorted[]> {
  const asking = lines.filter(({ question }) => question);
  if (viewer.kind !== 'person' || asking.length === 0)
    return lines.map((line) => ({ line, cannot: undefined }));
  const pushes = await read.pushes.of(
    [...new Set(asking.map(({ repositoryId }) => repositoryId))],
    [...new Set(asking.map(({ headSha }) => headSha))],
  );
  return lines.map((line) => {
    const { question, repositoryId, author, headSha } = line;
    const cannot =
      question &&
      cannotAnswerBecause({
        person: viewer,
        role: visible.roleIn(repositoryId),
        rules: tightened(question.rules, question.approval),
        author,
        pushers: pushes.filter(({ after }) => after === headSha).map(({ actorId }) => actorId),
        countersignedBy: question.countersignedBy,
      });
    return { line, cannot };
  });
}

/** The first of a list that fit, and where the next page begins. */
function cut(
  sorted: readonly Sorted[],
  fits: (one: Sorted) => boolean,
  limit: number,
  read: number,
  order: (line: Line) => Date = ({ createdAt }) => createdAt,
): { lines: Sorted[]; next: LinePosition | undefined } {
  const all = sorted.filter(fits);
  const lines = all.slice(0, limit);
  const last = all.length > limit ? lines.at(-1) : sorted.length === read ? sorted.at(-1) : undefined;
  return { lines, next: last && { at: order(last.line).toISOString(), id: last.line.id } };
}

/** What the runs say, as their check runs do. */
async function describe(read: ReadTx, all: readonly Sorted[]): Promise<(one: Sorted) => InboxItem> {
  const ids = [...new Set(all.map(({ line }) => line.id))];
  const states = await read.runs.loadAll(ids);
  const approvals = await read.approvals.newestOf(ids);
  return ({ line, cannot }) => {
    const state = states.get(line.id);
    const approval = approvals.get(line.id) ?? null;
    const { question } = line;
    return {
      line: { ...line, title: line.title ?? titleOf(state?.run.facts.trigger.title) },
      sentence: state && sentence(runSummary(state, approval), state, approval),
      since: question?.askedAt ?? (isRunOver(line.status) ? line.changedAt : line.createdAt),
      ...(question && { who: whoMayAnswer(tightened(question.rules, question.approval)) }),
      ...(cannot !== undefined && { cannot }),
    };
  };
}

function titleOf(title: unknown): string | null {
  return typeof title === 'string' ? title : null;
}

function cursorOf({ at, id }: LinePosition): string {
  return Buffer.from(`${at} ${id}`).toString('base64url');
}

/** It names only a place in an order, so a made-up one shows nothing else. */
function positionOf(cursor: string | undefined): LinePosition | undefined {
  const [, at, id] = /^(\S{1,40}) (\S{1,80})$/.exec(Buffer.from(cursor ?? '', 'base64url').toString()) ?? [];
  return at === undefined || id === undefined ? undefined : { at, id };
}
