import type { EffectOf, EffectRow } from '../../domain/effect/effect.ts';
import { type Approval, approvalKey } from '../../domain/policy/approval.ts';
import { isRunOver, type RunState } from '../../domain/run/run.ts';
import {
  type ApprovalView,
  answeredInWords,
  approvalComment,
  questionMarker,
} from '../../messages/comments/approval-comment.ts';
import { replacedComment } from '../../messages/comments/replaced-comment.ts';
import type { StatusView } from '../../messages/comments/state-cards.ts';
import { STATUS_MARKER, statusComment } from '../../messages/comments/status-comment.ts';
import { evidenceUrl, type Pages } from '../../messages/run/evidence.ts';
import { SETTLE_MS } from '../effects/outbox.ts';
import { checkRunKey, type RunView } from './run-view.ts';

/** A run of which something has changed, and what its pull request has to show. */
export interface Published {
  view: RunView;
  /** Of the run, oldest first. */
  approvals: readonly Approval[];
  /** The newest run of each chain, including those that are steps of others. */
  views: readonly RunView[];
}

/** The rows of comments and check runs, by their keys. */
export type Rows = ReadonlyMap<string, EffectRow>;

/** What should happen to a comment. */
export type PlannedComment = { key: string; comment: ShownComment; runId: string } & (
  | { kind: 'show'; settleMs: number }
  /** Nothing is sent, nor what still waits. A second new comment would notify people twice. */
  | { kind: 'withhold' }
);

type ShownComment = Pick<EffectOf<'comment'>, 'marker' | 'body' | 'shows' | 'answered' | 'replaced_by'>;
type Body = Pick<ShownComment, 'body' | 'shows' | 'answered'>;
type CommentRow = Omit<EffectRow, 'effect'> & { effect: EffectOf<'comment'> };

/** An approval comment, with the run that asks. */
interface Asked {
  key: string;
  approval: Approval;
  state: RunState;
}

/** Which comment of the pull request is the current one. */
interface Current {
  key: string;
  /** The one that was current when this was last decided, if it is another. */
  former: string | undefined;
  /** The newest question, which takes its place as soon as it is on GitHub. */
  coming: Asked | undefined;
}

/** The status comment of a pull request. Its row also says which comment is current: `replaced_by`. */
export function statusCommentKey(repositoryId: number, pullRequest: number): string {
  return `status:${repositoryId}#${pullRequest}`;
}

/** The keys of the rows that the plan needs, except that of the current comment, which the status comment's row names. */
export function plannedFrom({ view: { state }, approvals, views }: Published): string[] {
  const { repositoryId, pullRequest } = state.run;
  const asked = askedOf(approvals, state, views).map(({ key }) => key);
  const checkRuns = [state, ...views.map((view) => view.state)].map(({ run }) => checkRunKey(run.id));
  const status = pullRequest === null ? [] : [statusCommentKey(repositoryId, pullRequest)];
  return [...checkRuns, ...asked, ...status];
}

/**
 * What each comment of a pull request should show, of which one is current at a time. A question needs a comment of its own,
 * because an edit notifies nobody and because reactions to another text must not answer it. Once it is on GitHub, it
 * takes the place of the comment before it, which shrinks to a line and is collapsed. From then on, it shows
 * the state of the pull request, whatever that is: docs/adr/0061.
 */
export function planComments(
  rows: Rows,
  { view, approvals, views }: Published,
  { pages, isUrgent, pullRequest }: { pages: Pages; isUrgent: boolean; pullRequest: number },
): PlannedComment[] {
  const { run } = view.state;
  const statusKey = statusCommentKey(run.repositoryId, pullRequest);
  const asked = askedOf(approvals, view.state, views);
  const current = currentComment();
  // The part of the run whose step it is says that the step waits.
  const shown = views.filter(({ state }) => !state.run.facts.parent).map(statusView);
  return [
    ...asked.filter(({ state }) => state.run.id === run.id).flatMap(ownQuestion),
    ...formerQuestionOnTop(),
    ...replacedQuestion(),
    ...status(),
  ];

  function currentComment(): Current {
    const before = commentRow(statusKey)?.effect.replaced_by;
    const rowBefore = before === undefined ? undefined : commentRow(before);
    const newest = asked.findLast(isOnTheWay);
    const row = newest && commentRow(newest.key);
    const isNewer = newest?.key === before || !row || !rowBefore || row.createdAt >= rowBefore.createdAt;
    if (!newest || !isNewer) return { key: before ?? statusKey, former: undefined, coming: undefined };
    if ((row?.githubId ?? null) === null)
      return { key: before ?? statusKey, former: undefined, coming: newest };
    return { key: newest.key, former: before === newest.key ? undefined : before, coming: undefined };
  }

  /** Whether it is on GitHub, or will be. */
  function isOnTheWay({ key, approval }: Asked): boolean {
    const row = commentRow(key);
    return isWritten(row) || (approval.status === 'open' && !isRefused(row));
  }

  function ownQuestion(one: Asked): PlannedComment[] {
    const { key, approval } = one;
    const row = commentRow(key);
    const { urgent } = SETTLE_MS;
    if (approval.status === 'open') {
      const isOnTop = key === current.key || key === current.coming?.key;
      return [show(key, questionMarker(approval), questionBody(one, isOnTop), { settleMs: urgent })];
    }
    if (key === current.key) return [];
    // Nobody saw a question that GitHub refused, or that was answered by events before it was sent.
    if (!row || !isWritten(row)) return withhold(key);
    const question = viewOfQuestion(one);
    if (current.key !== statusKey) return [replace(key, row, answeredInWords(question))];
    return [show(key, row.effect.marker, bodyOf(question), { settleMs: urgent })];
  }

  /** The current comment, if it was an approval comment that nobody can answer any more, or one of another run. */
  function formerQuestionOnTop(): PlannedComment[] {
    if (current.key === statusKey) return [];
    const one = asked.find(({ key }) => key === current.key);
    const isOwn = one?.state.run.id === run.id;
    if (isOwn && one.approval.status === 'open') return [];
    const row = commentRow(current.key);
    if (!row) return [];
    const body = bodyOnTop(one, row);
    // The question will say it all, in a moment.
    if (current.coming && body.shows === 'status') return [];
    const isResult = body.shows === undefined && isOwn;
    const later = isUrgent ? SETTLE_MS.follow_up : SETTLE_MS.update;
    const settleMs = isResult ? SETTLE_MS.urgent : later;
    return [show(current.key, row.effect.marker, body, { runId: one?.state.run.id, settleMs })];
  }

  /** The chains' state, if that is all to show: the run is over and has a successor, or goes on without the question. */
  function bodyOnTop(one: Asked | undefined, row: CommentRow): Body {
    const isNewest = views.some(({ state }) => state.run.id === one?.state.run.id);
    const goesOn = one?.approval.status === 'void' && !isRunOver(one.state.run.status) && !current.coming;
    if (one && isNewest && !goesOn) return questionBody(one, true);
    const answered = (one && answeredInWords(viewOfQuestion(one))) ?? row.effect.answered;
    const body = statusComment(shown, { marker: row.effect.marker, answered });
    return { body, shows: 'status', ...(answered !== undefined && { answered }) };
  }

  function replacedQuestion(): PlannedComment[] {
    const { former } = current;
    const row = former === undefined ? undefined : commentRow(former);
    if (former === undefined || !row) return [];
    const one = asked.find(({ key }) => key === former);
    // Two questions can be open at the same time, each in its comment.
    if (one?.approval.status === 'open') return [];
    return [replace(former, row, (one && answeredInWords(viewOfQuestion(one))) ?? row.effect.answered)];
  }

  function status(): PlannedComment[] {
    const row = commentRow(statusKey);
    if (current.key !== statusKey) {
      if (!isWritten(row) && isKnownAsCurrent(row)) return [];
      const body = { body: replacedComment(STATUS_MARKER, pageOfCurrent()) };
      const replaced = show(statusKey, STATUS_MARKER, body, { replacedBy: current.key });
      return [isWritten(row) ? replaced : { ...replaced, kind: 'withhold' }];
    }
    // The question says it all, in a moment.
    if (current.coming) return isWritten(row) ? [] : withhold(statusKey);
    if (run.facts.parent) return [];
    const isFirst = (row?.githubId ?? null) === null;
    const isSoon = isFirst ? isRunOver(run.status) : isUrgent;
    const later = isFirst ? SETTLE_MS.first_words : SETTLE_MS.update;
    const settleMs = isSoon ? SETTLE_MS.follow_up : later;
    return [show(statusKey, STATUS_MARKER, { body: statusComment(shown) }, { settleMs })];
  }

  /** An open question needs no row to be found again: its run is the newest of its chain. */
  function isKnownAsCurrent(row: CommentRow | undefined): boolean {
    const known = row?.effect.replaced_by;
    const isOpen = asked.some(({ key, approval }) => key === current.key && approval.status === 'open');
    return known === current.key || (known === undefined && isOpen);
  }

  function questionBody(one: Asked, isOnTop: boolean): Body {
    const others = isOnTop ? shown.filter((other) => other.state.run.id !== one.state.run.id) : [];
    return bodyOf({ ...viewOfQuestion(one), others });
  }

  function bodyOf(question: ApprovalView): Body {
    const answered = answeredInWords(question);
    return { body: approvalComment(question), ...(answered !== undefined && { answered }) };
  }

  function viewOfQuestion({ approval, state }: Asked): ApprovalView {
    return { state, approval, checkRunUrl: checkRunUrlOf(state), pages };
  }

  function statusView({ state, approval }: RunView): StatusView {
    return { state, approval, checkRunUrl: checkRunUrlOf(state) };
  }

  function replace(key: string, row: CommentRow, answered: string | undefined): PlannedComment {
    const { marker } = row.effect;
    const body = replacedComment(marker, pageOfCurrent(), answered);
    return show(
      key,
      marker,
      { body, ...(answered !== undefined && { answered }) },
      { runId: row.runId ?? undefined, replacedBy: current.key },
    );
  }

  function show(
    key: string,
    marker: string,
    body: Body,
    {
      runId = run.id,
      settleMs = SETTLE_MS.update,
      replacedBy,
    }: { runId?: string | undefined; settleMs?: number; replacedBy?: string },
  ): PlannedComment {
    const comment = { marker, ...body, ...(replacedBy !== undefined && { replaced_by: replacedBy }) };
    return { kind: 'show', key, comment, runId, settleMs };
  }

  function withhold(key: string): PlannedComment[] {
    const row = commentRow(key);
    if (!row || row.appliedHash === row.desiredHash || isRefused(row)) return [];
    return [{ kind: 'withhold', key, comment: row.effect, runId: row.runId ?? run.id }];
  }

  function commentRow(key: string): CommentRow | undefined {
    const row = rows.get(key);
    return row?.effect.kind === 'comment' ? { ...row, effect: row.effect } : undefined;
  }

  function checkRunUrlOf({ run: { id } }: RunState): string | null {
    return rows.get(checkRunKey(id))?.progress.url ?? null;
  }

  function pageOfCurrent(): string | null {
    const id = rows.get(current.key)?.githubId ?? null;
    return id === null ? null : evidenceUrl({ kind: 'comment', id: `${id}`, label: '' }, run, pages);
  }
}

/** Every question of the run, and the newest of each other one, oldest first. */
function askedOf(approvals: readonly Approval[], state: RunState, views: readonly RunView[]): Asked[] {
  const others = views.filter((other) => other.state.run.id !== state.run.id);
  return [
    ...approvals.map((approval) => ({ approval, state })),
    ...others.flatMap((other) => (other.approval ? [{ approval: other.approval, state: other.state }] : [])),
  ]
    .map((one) => ({ ...one, key: approvalKey(one.approval.id) }))
    .toSorted((a, b) => a.approval.askedAt.getTime() - b.approval.askedAt.getTime());
}

/** Whether it is on GitHub, or perhaps is. */
function isWritten(row: EffectRow | CommentRow | undefined): boolean {
  return row !== undefined && (row.githubId !== null || row.begun);
}

/** Whether it failed, and certainly does not exist on GitHub. */
function isRefused(row: EffectRow | CommentRow | undefined): boolean {
  return row?.status === 'failed' && row.githubId === null && !row.begun;
}
