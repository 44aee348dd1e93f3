import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Effect } from '../../domain/effect/effect.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import type { Notices } from '../../domain/policy/notices.ts';
import { type Notice, noticesDue } from '../../domain/run/notices-due.ts';
import { isMergeStep, isRunOver, type Run, type RunState } from '../../domain/run/run.ts';
import { chatNotice } from '../../messages/comments/chat-notice.ts';
import { mentionComment, mentionMarker, webhookUnknown } from '../../messages/comments/notice.ts';
import { evidenceUrl, type Pages } from '../../messages/run/evidence.ts';
import type { Chat } from '../../ports/chat.ts';
import type { GitHub, PullRequest } from '../../ports/github.ts';
import type { JobResult, JobRunner } from '../../ports/jobs.ts';
import type { Storage, Tx } from '../../ports/storage.ts';
import type { ApprovalContext } from '../approvals/approval-context.ts';
import { readGoverning } from '../approvals/merge-facts.ts';
import { type Recipients, readRecipients } from '../approvals/recipients.ts';
import type { Outbox } from '../effects/outbox.ts';
import type { Publisher } from '../runs/publish.ts';
import { placeOfEffect } from '../runs/run-view.ts';
import type { ContextOf } from './context.ts';

/** How soon to check whether the approval comment exists, in milliseconds: at first, and after two minutes. */
const COMMENT_SOON_MS = 1_000;
const COMMENT_LATER_MS = 60_000;
const SOON_MS = 120_000;
/** How soon to check again what prevents notices for now, in milliseconds: a pause, or unreadable settings. */
const LATER_MS = 600_000;
/** Among how many runs of one head and chain an earlier question is looked for. */
const EARLIER_RUNS = 50;
/** Roughly what it costs of the installation's points. */
const POINTS = 10;

const NOTHING: Notices = { sent: [], people: [], webhooks: [], problems: [] };
const NOBODY: Recipients = { people: [], teams: [], problems: [] };

/**
 * Notifies people of an open question as the governing settings say. Everything that it sends is a desired
 * effect, recorded together with its name in the same transaction, so that nothing is sent twice; and the outbox
 * sends none of it once the question is not open any more: docs/adr/0044.
 */
export function notifyJobs(deps: {
  storage: Storage;
  github: GitHub;
  contextOf: ContextOf;
  outbox: Outbox;
  publisher: Publisher;
  pages: Pages;
  chat: Pick<Chat, 'has'>;
  clock: Clock;
  log: Log;
}): JobRunner<'notify'> {
  const { storage, github, contextOf, outbox, publisher, pages, chat, clock, log } = deps;

  async function notify(runId: string, approvalId: string, signal: AbortSignal): Promise<JobResult> {
    const state = await storage.read.runs.load(runId);
    const asked = await storage.read.approvals.ofRun(runId);
    const approval = asked.find(({ id }) => id === approvalId);
    const step = state?.invocations.find(({ id }) => id === approval?.invocationId);
    if (!state || !approval || !step?.sessionId || !isWaiting(state, approval)) return { kind: 'done' };
    const later = github.turn(state.run.installationId, {
      job: `notify:${approvalId}`,
      urgency: 'background',
      points: POINTS,
    });
    if (later) return { kind: 'defer', at: later };
    const found = await storage.read.runs.getSession(step.sessionId);
    if (!found) return { kind: 'done' };
    const context = contextOf({ state, asked, session: found.session }, 'time', signal);
    const comment = await context.approvalComment(approvalId);
    if (!comment) {
      const openForMs = clock.now().getTime() - approval.askedAt.getTime();
      return again(openForMs < SOON_MS ? COMMENT_SOON_MS : COMMENT_LATER_MS);
    }
    // Nobody can answer what could not be written, and the step fails for it.
    if ('refused' in comment || 'asksNoMore' in comment) return { kind: 'done' };
    if ((await context.pausedBy()) !== null) return again(LATER_MS);
    const governing = await readGoverning(context, undefined, {});
    const { before: pullRequest, settings } = governing;
    // Other settings, a push or a draft void the question, so its own recheck decides what becomes of it.
    const isAsAsked =
      governing.statusFor(pullRequest).kind === 'as_asked' &&
      pullRequest.state === 'open' &&
      !pullRequest.draft &&
      pullRequest.headSha === approval.headSha &&
      pullRequest.baseRef === approval.baseRef;
    if (!isAsAsked) return again(LATER_MS);
    if (!settings?.notify) return { kind: 'done' };
    const before = approval.notices ?? (await sentBefore(state, asked, approval, step.stepId));
    const { sent } = before;
    const now = clock.now();
    const { due, skipped, next } = noticesDue(settings.notify, { askedAt: approval.askedAt, now, sent });
    // While something else blocks the step, a reminder would ask for what changes nothing.
    const isBlocked = approval.decision?.status === 'unmet';
    if (isBlocked && due.some(({ stage }) => stage === 'reminder')) return again(LATER_MS);
    if (due.length > 0) {
      const isForPeople = due.some(({ kind }) => kind !== 'webhook');
      const to = isForPeople ? await readRecipients(context, pullRequest) : NOBODY;
      const question = { githubId: comment.githubId, approval, isMerge: isMergeStep(state.run, step) };
      const hasReviewed = due.some(({ kind }) => kind === 'request_review')
        ? await readReviewed(context, pullRequest)
        : () => false;
      const unreviewed = { ...to, people: to.people.filter((login) => !hasReviewed(login)) };
      const effects = due.flatMap((notice) =>
        effectsOf(
          notice,
          state.run,
          question,
          notice.kind === 'request_review' ? unreviewed : to,
          pullRequest,
        ),
      );
      await record(state, approval, { before, due, skipped }, effects, to);
      log.info({ run: runId, question: approvalId, notices: due.map(({ name }) => name) }, 'notifies people');
    }
    // What a question before it has sent is kept for the next. And something may have been refused since.
    else await record(state, approval, { before, due, skipped }, [], NOBODY);
    return next ? { kind: 'reschedule', at: next } : { kind: 'done' };
  }

  /**
   * What the same question has sent before: in a comment that this one replaces, or in an earlier run about the same
   * head. An author can close, reopen and draft as often as they like, and each time the step asks again.
   */
  async function sentBefore(
    { run }: RunState,
    asked: readonly Approval[],
    { invocationId, headSha, baseRef }: Approval,
    stepId: string,
  ): Promise<Notices> {
    const newest = (approvals: readonly Approval[], ofStep: string | undefined) =>
      approvals.findLast((one) => one.invocationId === ofStep && one.notices && one.notices.sent.length > 0);
    let found = newest(asked, invocationId);
    const { id, repositoryId, pullRequest, chain } = run;
    const runs =
      found || pullRequest === null
        ? []
        : await storage.read.runs.list({ repositoryId, pullRequest, headSha, chain, limit: EARLIER_RUNS });
    for (const earlier of runs) {
      if (found) break;
      if (earlier.id === id || earlier.baseRef !== baseRef) continue;
      const state = await storage.read.runs.load(earlier.id);
      const step = state?.invocations.find((one) => one.stepId === stepId);
      found = newest(await storage.read.approvals.ofRun(earlier.id), step?.id);
    }
    return found ? notDropped(found) : NOTHING;
  }

  /** Without what was not sent, as when the question was withdrawn first. What was a problem then may be none now. */
  async function notDropped({ id, runId, notices = NOTHING }: Approval): Promise<Notices> {
    const effects = await storage.read.effects.ofRun(runId);
    const isSent = (name: string) => {
      const key = `notice:${id}:${name}`;
      const own = effects.filter(
        (one) => one.key === key || (name === 'request_review' && one.key.startsWith(`${key}:`)),
      );
      // A question that sent nothing itself has the name from one before it.
      return (
        own.length === 0 ||
        own.some(({ status, begun }) => status === 'done' || (begun && status === 'pending'))
      );
    };
    const sent = notices.sent.filter(isSent);
    return {
      sent,
      people: sent.some((name) => !name.startsWith('webhook:')) ? notices.people : [],
      webhooks: notices.webhooks.filter((name) => sent.includes(`webhook:${name}`)),
      problems: [],
    };
  }

  function again(inMs: number): JobResult {
    return { kind: 'reschedule', at: new Date(clock.now().getTime() + inMs) };
  }

  async function record(
    { run }: RunState,
    { id, invocationId }: Approval,
    { before, due, skipped }: { before: Notices; due: readonly Notice[]; skipped: readonly string[] },
    effects: readonly { key: string; effect: Effect }[],
    { people, teams, problems }: Recipients,
  ): Promise<void> {
    await storage.transaction(async (tx) => {
      const asked = await tx.approvals.ofRun(run.id);
      const approval = asked.find((one) => one.id === id);
      // It was answered or replaced while its recipients were read.
      if (approval?.status !== 'open' || approval.invocationId !== invocationId) return;
      const { notices = before } = approval;
      const named = due.flatMap((notice) => (notice.kind === 'webhook' ? [notice.webhook] : []));
      await tx.approvals.saveNotices(id, {
        sent: unique([...notices.sent, ...skipped, ...due.map(({ name }) => name)]),
        people: unique([...notices.people, ...teams, ...people]),
        webhooks: unique([...notices.webhooks, ...named.filter(chat.has)]),
        problems: unique([
          ...notices.problems,
          ...problems,
          ...named.filter((name) => !chat.has(name)).map(webhookUnknown),
        ]),
      });
      for (const { key, effect } of effects)
        await outbox.request(tx, key, effect, { runId: run.id, at: clock.now() });
      await show(tx, run.id);
    });
  }

  /** The approval comment says whom it notified. */
  async function show(tx: Tx, runId: string): Promise<void> {
    const now = await tx.runs.load(runId);
    if (now) await publisher.publish(tx, now);
  }

  function effectsOf(
    notice: Notice,
    run: Run,
    question: { githubId: number; approval: Approval; isMerge: boolean },
    to: Recipients,
    pullRequest: PullRequest,
  ): { key: string; effect: Effect }[] {
    const { approval, isMerge } = question;
    const about = { ...placeOfEffect(run), approval_id: approval.id };
    const key = `notice:${approval.id}:${notice.name}`;
    const url = evidenceUrl({ kind: 'comment', id: String(question.githubId), label: '' }, run, pages);
    if (notice.kind === 'webhook') {
      const { webhook, stage } = notice;
      if (!chat.has(webhook)) return [];
      const openForMs = stage === 'reminder' ? clock.now().getTime() - approval.askedAt.getTime() : undefined;
      const { number, title } = pullRequest;
      const text = chatNotice({ repository: run.repository, number, title, url }, { isMerge, openForMs });
      return [{ key, effect: { kind: 'webhook', ...about, webhook, text } }];
    }
    if (to.people.length + to.teams.length === 0) return [];
    switch (notice.kind) {
      case 'request_review': {
        const request = (name: string, people: string[], teams: string[]) => ({
          key: `${key}:${name}`,
          effect: {
            kind: 'review_request' as const,
            ...about,
            pull_request: pullRequest.number,
            people,
            teams,
          },
        });
        // GitHub refuses a request as a whole, so one team without access must not prevent the others.
        return [
          ...(to.people.length === 0 ? [] : [request('people', to.people, [])]),
          ...to.teams.map((team) => request(team, [], [team.split('/')[1] ?? ''])),
        ];
      }
      case 'mention': {
        const body = mentionComment(approval, to, { question: url, isMerge });
        const marker = mentionMarker(approval);
        return [{ key, effect: { kind: 'comment', ...about, issue: pullRequest.number, marker, body } }];
      }
    }
  }

  return {
    run: ({ run_id, approval_id }, signal) => notify(run_id, approval_id, signal),
    async onRetriesExhausted({ run_id, approval_id }, error) {
      log.error({ run: run_id, question: approval_id, err: error }, 'nobody could be notified of a question');
    },
  };
}

/**
 * Who has reviewed this head. A request would show their review as outdated, and they have seen the pull
 * request.
 */
async function readReviewed(
  { reader, repo }: ApprovalContext,
  { number, headSha }: PullRequest,
): Promise<(login: string) => boolean> {
  const { reviews } = await reader.pullRequestReviews(repo, number);
  const logins = reviews.filter(({ commitSha }) => commitSha === headSha).map(({ person }) => person.login);
  return (login) => logins.includes(login);
}

function isWaiting({ run }: RunState, { status }: Approval): boolean {
  return status === 'open' && !isRunOver(run.status) && run.pullRequest !== null;
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}
