import type { Clock } from '../../core/clock.ts';
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
import type { Tx } from '../../ports/storage.ts';
import { effectKey, type Outbox, SETTLE_MS } from '../effects/outbox.ts';
import { checkRunKey, placeOfEffect, type RunView } from './run-view.ts';

function statusCommentKey(repositoryId: number, pullRequest: number): string {
  return `status:${repositoryId}#${pullRequest}`;
}

/** A run, of which something has changed. */
interface Published {
  view: RunView;
  /** Of the run, oldest first. */
  approvals: readonly Approval[];
  /** The newest run of each chain, including those that are steps of others. */
  views: readonly RunView[];
}

/** The keys of the rows from which the comments are decided. */
export function commentKeys({ view: { state }, approvals, views }: Published): string[] {
  const { repositoryId, pullRequest } = state.run;
  const asked = askedOf(approvals, state, views).map(({ key }) => key);
  return pullRequest === null ? asked : [...asked, statusCommentKey(repositoryId, pullRequest)];
}

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

type Body = Pick<EffectOf<'comment'>, 'body' | 'shows' | 'answered'>;

/**
 * The comments of a pull request of which one is current at a time: a question needs a comment of its own, because an edit notifies
 * nobody and because reactions to another text must not answer it. Once it is on GitHub, it takes the place of the comment before
 * it, which shrinks to a line and is collapsed. From then on, it shows whatever the pull request comes to: docs/adr/0061.
 */
export async function publishComments(
  { outbox, clock, pages }: { outbox: Outbox; clock: Clock; pages: Pages },
  tx: Tx,
  { view, approvals, views }: Published,
  { isUrgent }: { isUrgent: boolean },
): Promise<void> {
  const { run } = view.state;
  const { pullRequest } = run;
  if (pullRequest === null) return;
  const statusKey = statusCommentKey(run.repositoryId, pullRequest);
  const asked = askedOf(approvals, view.state, views);
  const current = await currentComment(asked);
  const page = await pageOf(current.key);
  // The part of the run whose step it is says that the step waits.
  const shown = await Promise.all(views.filter(({ state }) => !state.run.facts.parent).map(statusView));

  for (const one of asked.filter(({ state }) => state.run.id === run.id)) await publishOwn(one);
  await publishCurrent();
  await publishFormer();
  await publishStatus();

  async function currentComment(all: readonly Asked[]): Promise<Current> {
    const status = await commentRow(statusKey);
    const before = status?.effect.replaced_by;
    const rowBefore = before === undefined ? undefined : await commentRow(before);
    let newest: Asked | undefined;
    for (const one of all) if (await isOnTheWay(one)) newest = one;
    const row = newest && (await commentRow(newest.key));
    const isNewer = newest?.key === before || !row || !rowBefore || row.createdAt >= rowBefore.createdAt;
    if (!newest || !isNewer) return { key: before ?? statusKey, former: undefined, coming: undefined };
    if ((row?.githubId ?? null) === null)
      return { key: before ?? statusKey, former: undefined, coming: newest };
    return { key: newest.key, former: before === newest.key ? undefined : before, coming: undefined };
  }

  /** Whether it is on GitHub, or will be. */
  async function isOnTheWay({ key, approval }: Asked): Promise<boolean> {
    const row = await commentRow(key);
    return isWritten(row) || (approval.status === 'open' && !isRefused(row));
  }

  async function publishOwn(one: Asked): Promise<void> {
    const { key, approval } = one;
    const row = await commentRow(key);
    if (approval.status !== 'open') {
      if (key === current.key) return;
      // Nobody saw a question that GitHub refused, or that was answered by events before it was sent.
      if (!row || !isWritten(row)) return withhold(key);
      const question = await viewOfQuestion(one);
      if (current.key !== statusKey) return replace(key, row, answeredInWords(question));
      return request(key, row.effect.marker, bodyOf(question), { runId: run.id, settleMs: SETTLE_MS.urgent });
    }
    const isOnTop = key === current.key || key === current.coming?.key;
    await request(key, questionMarker(approval), await questionBody(one, isOnTop), {
      runId: run.id,
      settleMs: SETTLE_MS.urgent,
    });
  }

  /** The current comment, if it was an approval comment that nobody can answer any more, or one of another run. */
  async function publishCurrent(): Promise<void> {
    if (current.key === statusKey) return;
    const one = asked.find(({ key }) => key === current.key);
    const isOwn = one?.state.run.id === run.id;
    if (isOwn && one.approval.status === 'open') return;
    const row = await commentRow(current.key);
    if (!row) return;
    const body = await currentBody(one, row);
    // The question will say it all, in a moment.
    if (current.coming && body.shows === 'status') return;
    const isResult = body.shows === undefined && isOwn;
    const later = isUrgent ? SETTLE_MS.follow_up : SETTLE_MS.update;
    await request(current.key, row.effect.marker, body, {
      runId: one?.state.run.id ?? run.id,
      settleMs: isResult ? SETTLE_MS.urgent : later,
    });
  }

  /** Whether the chains' state is all that it shows: its run is over and has a successor, or goes on without the question. */
  async function currentBody(one: Asked | undefined, row: CommentRow): Promise<Body> {
    const isNewest = views.some(({ state }) => state.run.id === one?.state.run.id);
    const goesOn = one?.approval.status === 'void' && !isRunOver(one.state.run.status) && !current.coming;
    if (one && isNewest && !goesOn) return questionBody(one, true);
    const answered = (one && answeredInWords(await viewOfQuestion(one))) ?? row.effect.answered;
    const body = statusComment(shown, { marker: row.effect.marker, answered });
    return { body, shows: 'status', ...(answered !== undefined && { answered }) };
  }

  async function questionBody(one: Asked, isOnTop: boolean): Promise<Body> {
    const others = isOnTop ? shown.filter((other) => other.state.run.id !== one.state.run.id) : [];
    return bodyOf({ ...(await viewOfQuestion(one)), others });
  }

  function bodyOf(question: ApprovalView): Body {
    const answered = answeredInWords(question);
    return { body: approvalComment(question), ...(answered !== undefined && { answered }) };
  }

  async function viewOfQuestion({ approval, state }: Asked): Promise<ApprovalView> {
    return { state, approval, checkRunUrl: await checkRunUrlOf(state), pages };
  }

  async function publishFormer(): Promise<void> {
    const { former } = current;
    const row = former === undefined ? undefined : await commentRow(former);
    if (former === undefined || !row) return;
    const one = asked.find(({ key }) => key === former);
    // Two questions can be open at the same time, each in its comment.
    if (one?.approval.status === 'open') return;
    const answered = (one && answeredInWords(await viewOfQuestion(one))) ?? row.effect.answered;
    await replace(former, row, answered);
  }

  async function replace(key: string, row: CommentRow, answered: string | undefined): Promise<void> {
    const { marker } = row.effect;
    const body = {
      body: replacedComment(marker, page, answered),
      ...(answered !== undefined && { answered }),
    };
    await request(key, marker, body, { runId: row.runId ?? run.id, replacedBy: current.key });
  }

  async function publishStatus(): Promise<void> {
    const row = await commentRow(statusKey);
    if (current.key !== statusKey) {
      if (!isWritten(row) && row?.effect.replaced_by === current.key) return;
      const body = replacedComment(STATUS_MARKER, page);
      await request(statusKey, STATUS_MARKER, { body }, { runId: run.id, replacedBy: current.key });
      if (!isWritten(row)) await withhold(statusKey);
      return;
    }
    // The question says it all, in a moment.
    if (current.coming) return isWritten(row) ? undefined : withhold(statusKey);
    if (run.facts.parent) return;
    const isFirst = (row?.githubId ?? null) === null;
    const isSoon = isFirst ? isRunOver(run.status) : isUrgent;
    const later = isFirst ? SETTLE_MS.first_words : SETTLE_MS.update;
    await request(
      statusKey,
      STATUS_MARKER,
      { body: statusComment(shown) },
      {
        runId: run.id,
        settleMs: isSoon ? SETTLE_MS.follow_up : later,
      },
    );
  }

  async function request(
    key: string,
    marker: string,
    body: Body,
    {
      runId,
      settleMs = SETTLE_MS.update,
      replacedBy,
    }: { runId: string; settleMs?: number; replacedBy?: string },
  ): Promise<void> {
    if (pullRequest === null) return;
    const effect: EffectOf<'comment'> = {
      kind: 'comment',
      ...placeOfEffect(run),
      issue: pullRequest,
      marker,
      ...body,
      ...(replacedBy !== undefined && { replaced_by: replacedBy }),
    };
    await outbox.request(tx, key, effect, { runId, at: clock.now(), settleMs });
  }

  /** What was never sent and still waits is not sent. A second new comment would notify people twice. */
  async function withhold(key: string): Promise<void> {
    const row = await tx.effects.get(key);
    if (!row || row.appliedHash === row.desiredHash || isRefused(row)) return;
    const done = { appliedHash: row.desiredHash, status: 'done' as const, updatedAt: clock.now() };
    await tx.effects.saveProgress({ ...row, ...done });
    await tx.jobs.removeWaiting('effect', effectKey(key));
  }

  async function commentRow(key: string): Promise<CommentRow | undefined> {
    const row = await tx.effects.get(key);
    return row?.effect.kind === 'comment' ? { ...row, effect: row.effect } : undefined;
  }

  async function checkRunUrlOf({ run: { id } }: RunState): Promise<string | null> {
    return (await tx.effects.get(checkRunKey(id)))?.progress.url ?? null;
  }

  async function statusView({ state, approval }: RunView): Promise<StatusView> {
    return { state, approval, checkRunUrl: await checkRunUrlOf(state) };
  }

  async function pageOf(key: string): Promise<string | null> {
    const id = (await tx.effects.get(key))?.githubId ?? null;
    return id === null ? null : evidenceUrl({ kind: 'comment', id: `${id}`, label: '' }, run, pages);
  }
}

type CommentRow = Omit<EffectRow, 'effect'> & { effect: EffectOf<'comment'> };

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
