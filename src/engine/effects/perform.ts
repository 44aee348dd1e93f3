import { contentHash } from '../../core/canonical.ts';
import type { Clock } from '../../core/clock.ts';
import { messageOf, unreachable } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { bodyHash } from '../../domain/effect/body-hash.ts';
import type { CheckRunContent, Effect, EffectOf, EffectRow } from '../../domain/effect/effect.ts';
import type { WriteCause } from '../../domain/effect/write-cause.ts';
import type { WrittenComment } from '../../domain/policy/own-comment.ts';
import { levelOf, mayWrite, type RolloutLevel } from '../../domain/policy/rollout.ts';
import { reviewAlone, reviewRequest } from '../../messages/comments/finding-review.ts';
import { noticeRefused } from '../../messages/comments/notice.ts';
import { type Chat, ChatError } from '../../ports/chat.ts';
import {
  type GitHub,
  GitHubError,
  type GitHubWriter,
  SignInRefused,
  type Urgency,
} from '../../ports/github.ts';
import { type JobResult, type JobRunner, notifyJob } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import type { RunOfEffect, Storage, Tx } from '../../ports/storage.ts';
import { causeOf, NO_CAUSE } from './cause-of.ts';
import { contentBefore } from './content-before.ts';
import { closed, gateClosed, isLeftOpen } from './gate-check.ts';
import { lastRefusal } from './limit-memory.ts';
import { GITHUB_REQUEST_LIMIT_MS } from './request-timeout.ts';
import { type Seat, writesTogether } from './together.ts';
import { writeClassOf } from './write-class.ts';
import type { WriteLimiter } from './write-limiter.ts';
import type { Permitted, Writers } from './writers.ts';

type Progress = Pick<EffectRow, 'githubId' | 'progress'>;
/** Records what is about to be sent, for the process after a crash. */
type Note = (progress: Progress) => Promise<void>;

/** What an attempt begins with. */
interface Prepared {
  /** As it was before this attempt. */
  found: { row: EffectRow; run: RunOfEffect | undefined };
  /** Whether its create was recorded as begun. */
  begins: boolean;
}

/**
 * How long an unchanged desired effect rests after GitHub rejected it, in milliseconds. Retrying at every
 * poll cost a request every few seconds for nothing. Never retrying would keep a check run silent after a
 * missing permission is granted.
 */
const REST_MS = 3_600_000;
/** How often a rejected check run is tried again, once an hour, if nothing requests it meanwhile. */
const MAX_RESTS = 24;

/**
 * Executes one desired effect of the outbox. A create is marked as begun before it is sent. If an earlier
 * attempt was begun without a recorded answer, the result is searched on GitHub first (by external id or
 * marker), so that a crash never duplicates it, and only after GitHub had enough time to create it. Nor is an
 * update sent after another one whose result is unknown, because the older one could arrive last.
 */
export function effectJobs(deps: {
  storage: Storage;
  github: GitHub;
  clock: Clock;
  log: Log;
  limiter: WriteLimiter;
  writers: Writers;
  queue: Queue;
}): Required<Omit<JobRunner<'effect', Prepared>, 'finish'>> {
  const { storage, github, clock, log, limiter, writers, queue } = deps;
  const together = writesTogether(writers);
  const posts = postsInTurn(clock);
  const recalling = new Map<number, ReturnType<typeof writtenBefore>>();

  /**
   * A create is recorded as begun in the transaction that takes its job. If it is not sent after all, that is
   * taken back.
   */
  async function prepare(tx: Tx, key: string): Promise<Prepared | undefined> {
    const found = await tx.effects.getWithRun(key);
    if (!found) return undefined;
    const { row, run } = found;
    const { passed, unsure_until } = row.progress;
    const isSent =
      !isLedger(row.effect) &&
      row.desiredHash !== row.appliedHash &&
      passed === undefined &&
      unsure_until === undefined &&
      (!run || mayWrite(levelOf(run), row.effect.kind)) &&
      !(run && isGone(run));
    if (!isSent || row.githubId !== null || row.begun) return { found, begins: false };
    await tx.effects.saveProgress({ ...row, begun: true, updatedAt: clock.now() });
    return { found, begins: true };
  }

  async function perform(
    key: string,
    cause: WriteCause = NO_CAUSE,
    prepared?: Prepared,
    seat?: Seat,
  ): Promise<JobResult> {
    const found = prepared?.found ?? (await storage.read.effects.getWithRun(key));
    if (!found) return { kind: 'done' };
    const { row, run } = found;
    if (isLedger(row.effect) || row.desiredHash === row.appliedHash) return { kind: 'done' };
    const open = isLeftOpen(row, clock.now());
    if (open) return open.until ? { kind: 'defer', at: open.until } : { kind: 'done' };
    if (row.progress.passed) return endPass(row);
    const gone = run && !mayBeGreen(row) ? await unreachableBecause(run) : undefined;
    if (gone !== undefined) {
      await save(row, {
        status: 'failed',
        error: `not sent: ${gone}`,
        progress: { ...row.progress, rests_until: undefined },
      });
      return { kind: 'done' };
    }
    if (await isLate(row)) {
      await save(row, { status: 'failed', error: 'not sent: the question is not open any more' });
      return { kind: 'done' };
    }
    if (await isOfOldHead(row.effect)) {
      await save(row, { status: 'failed', error: 'not sent: the head has moved' });
      return { kind: 'done' };
    }
    const { unsure_until: unsureUntil } = row.progress;
    const isUnsure = unsureUntil !== undefined && clock.now() < new Date(unsureUntil);
    if (isUnsure && !mayBeGreen(row) && row.effect.kind !== 'webhook') {
      // Crashes and failures still count, so that retries are exhausted if the effect itself is the cause.
      return { kind: 'defer', at: new Date(unsureUntil) };
    }
    const urgency = urgencyOf(row);
    const permitted = await permission(row, run, urgency, prepared?.begins ?? false);
    if ('withheld' in permitted) return withhold(row, permitted.withheld);
    if (row.effect.kind === 'webhook') return post(row, row.effect, permitted.post);
    const write = {
      key,
      class: writeClassOf(row),
      creates: isCreated(row),
      ...(causeOf({ row, run }) ?? cause),
    };
    const { installation_id: installationId } = row.effect;
    if (!mayBeGreen(row)) await recall(installationId);
    const later =
      (mayBeGreen(row) ? undefined : github.turn(installationId, { job: key, urgency, points: 5 })) ??
      limiter.take(installationId, write, clock.now(), { atOnce: mayBeGreen(row) });
    if (later) {
      if (prepared?.begins) await save(row, { begun: false });
      return { kind: 'defer', at: later };
    }

    const wasBegun = row.begun;
    if (row.githubId === null && !wasBegun && !prepared?.begins) await save(row, { begun: true });
    // A rejected create made nothing, so there is nothing to search or fix later.
    const begun = wasBegun || row.githubId !== null;
    const note: Note = async ({ githubId, progress }) =>
      void (await save(row, { githubId, progress, begun: true }));
    let progress: Progress;
    try {
      const alone = permitted.github;
      const isOfThePast = wasBegun && (await isOfThePastQuestion(row));
      progress = await execute(seat?.writer(alone) ?? alone, row, { wasBegun, isOfThePast }, note);
    } catch (error) {
      if (error instanceof GitHubError && error.retryAt) {
        // A newer request could come earlier. Without this hold, each would cost a request to a GitHub that
        // asked for a pause.
        limiter.hold(installationId, error.retryAt);
        throw error;
      }
      if (mayBeGreen(row) && error instanceof GitHubError && isRefusal(error)) {
        // While GitHub may show an open gate, closing it is retried until it succeeds.
        log.error(
          { effect: key, err: error.message },
          'GitHub refused to close a gate check; it is tried again',
        );
        await save(row, { attempts: row.attempts + 1, begun });
        const pauseMs = row.attempts < SOON_TRIES ? CLOSE_AGAIN_MS : CLOSE_LATER_MS;
        return { kind: 'reschedule', at: new Date(clock.now().getTime() + pauseMs) };
      }
      if (error instanceof GitHubError && isRefusal(error)) {
        await save(row, { ...failed(row, error), attempts: row.attempts + 1, begun });
        log.error({ effect: key, err: error.message }, 'GitHub refused an effect');
        await tellRefused(row, error.message);
        return isWorthRetrying(row, run)
          ? { kind: 'reschedule', at: new Date(clock.now().getTime() + REST_MS) }
          : { kind: 'done' };
      }
      if (error instanceof SignInRefused || (error instanceof GitHubError && error.kind === 'not_found')) {
        await save(row, { begun });
      } else if (error instanceof GitHubError && error.kind === 'unavailable') await markUnsure(key);
      throw error;
    }
    if (isUnsure && mayBeGreen(row)) {
      // The request that was under way at that time may have opened it again.
      await save(row, {
        ...progress,
        progress: { ...progress.progress, concluded: true, unsure_until: unsureUntil },
        appliedHash: null,
        begun: true,
      });
      return { kind: 'reschedule', at: new Date(unsureUntil) };
    }
    const done = {
      githubId: progress.githubId,
      progress: progress.progress,
      contentAt: write.creates ? clock.now() : row.contentAt,
      appliedHash: contentHash(row.effect),
      status: 'done' as const,
      error: null,
      attempts: row.attempts + 1,
      begun: true,
    };
    // If a crash loses the answer, the next process looks for what was created, and repeats an update.
    const changedMeanwhile = await storage.transaction(
      async (tx) => {
        const changed = await tx.effects.saveProgress({ ...row, ...done, updatedAt: clock.now() });
        if (!changed) tx.endJob();
        return changed;
      },
      { waitsFor: 'others' },
    );
    return changedMeanwhile ? { kind: 'reschedule', at: clock.now() } : { kind: 'done' };
  }

  /** One read for all writes that want to begin. They go on without it: a write is worth more than the exact limit. */
  async function recall(installationId: number): Promise<void> {
    if (limiter.knows(installationId)) return;
    const reading =
      recalling.get(installationId) ??
      writtenBefore(installationId).finally(() => recalling.delete(installationId));
    recalling.set(installationId, reading);
    try {
      limiter.recall(installationId, await reading);
    } catch (err) {
      log.error({ err }, 'it could not be read what was written before, which does not count for the limits');
    }
  }

  async function writtenBefore(installationId: number) {
    const [content, refusal] = await Promise.all([
      contentBefore(storage.read, installationId, clock.now(), (err) =>
        log.error({ err }, 'an effect that cannot be read does not count for the limits of its installation'),
      ),
      lastRefusal(storage.read, installationId),
    ]);
    return { content, writeRefusedAt: refusal?.writeRefusedAt };
  }

  /** Closing a gate that may be open needs no permission. */
  async function permission(
    row: EffectRow,
    run: RunOfEffect | undefined,
    urgency: Urgency,
    begins: boolean,
  ): Promise<Permitted> {
    if (mayBeGreen(row))
      return { github: writers.takingBack(row.effect.installation_id, urgency), post: refuse };
    try {
      return await writers.for(row.effect, run, urgency);
    } catch (error) {
      if (begins) await save(row, { begun: false });
      throw error;
    }
  }

  /**
   * The row keeps what would have been written. Another request for it is judged again, because the rollout may be another then. What
   * GitHub shows of an earlier version stays.
   */
  async function withhold(row: EffectRow, level: RolloutLevel): Promise<JobResult> {
    const begun = row.begun && row.githubId !== null;
    await save(row, { status: 'withheld', error: `withheld: rollout is ${level}`, begun });
    return { kind: 'done' };
  }

  /**
   * Posts a message to a chat, at least once: no chat says whether it has a message. An attempt that a crash or a
   * lost answer leaves open is therefore made again, with the same id.
   */
  async function post(row: EffectRow, effect: EffectOf<'webhook'>, postTo: Chat['post']): Promise<JobResult> {
    const { webhook, text, data } = effect;
    // A step that runs again may have another message, which is no repetition of the first.
    const id = effect.approval_id === undefined ? `${row.id}-${row.desiredHash.slice(0, 12)}` : row.id;
    const later = posts.begin(webhook);
    if (later) return { kind: 'defer', at: later };
    try {
      await postTo(webhook, { text, data, id, at: row.createdAt }).finally(() => posts.end(webhook));
    } catch (error) {
      if (!(error instanceof ChatError)) throw error;
      log.warn({ effect: row.key, err: error.message }, 'a message to a chat was not posted');
      if (error.waitMs !== undefined)
        return { kind: 'defer', at: new Date(clock.now().getTime() + error.waitMs) };
      if (error.isTemporary) throw error;
      await save(row, { ...failed(row, error), attempts: row.attempts + 1, begun: true });
      await tellRefused(row, error.message);
      return { kind: 'done' };
    }
    const appliedHash = contentHash(row.effect);
    await save(row, { appliedHash, status: 'done', error: null, attempts: row.attempts + 1, begun: true });
    return { kind: 'done' };
  }

  /** The question says that a notice of it was not sent, and why. */
  async function tellRefused({ effect, runId }: EffectRow, because: string): Promise<void> {
    const approvalId = 'approval_id' in effect ? effect.approval_id : undefined;
    if (approvalId === undefined || runId === null) return;
    const names =
      effect.kind === 'review_request'
        ? [...effect.people, ...effect.teams.map((slug) => `${effect.owner}/${slug}`)]
        : [];
    const webhook = effect.kind === 'webhook' ? effect.webhook : undefined;
    await storage.transaction(async (tx) => {
      const approval = (await tx.approvals.ofRun(runId)).find(({ id }) => id === approvalId);
      const { notices } = approval ?? {};
      if (!approval || !notices) return;
      const isMentioned = notices.sent.includes('mention');
      await tx.approvals.saveNotices(approvalId, {
        ...notices,
        people: notices.people.filter((name) => isMentioned || !names.includes(name)),
        webhooks: notices.webhooks.filter((name) => name !== webhook),
        problems: [...new Set([...notices.problems, noticeRefused(names, because)])],
      });
      await queue.enqueue(tx, notifyJob(approval, effect.installation_id));
    });
  }

  /** A notice about a question that was answered, withdrawn or replaced before it was sent. */
  async function isLate({ effect, runId }: EffectRow): Promise<boolean> {
    const approvalId = 'approval_id' in effect ? effect.approval_id : undefined;
    if (approvalId === undefined || runId === null) return false;
    const approvals = await storage.read.approvals.ofRun(runId);
    return approvals.find(({ id }) => id === approvalId)?.status !== 'open';
  }

  /**
   * What became of a question whose run has a successor. If GitHub never got the question, a new comment would tell
   * people of something that they were never asked, below the comment that is current.
   */
  async function isOfThePastQuestion({ effect, githubId, runId }: EffectRow): Promise<boolean> {
    if (effect.kind !== 'comment' || effect.answered === undefined || githubId !== null) return false;
    const state = runId === null ? undefined : await storage.read.runs.load(runId);
    if (!state || state.run.pullRequest === null) return false;
    const { repositoryId, pullRequest } = state.run;
    const current = await storage.read.runs.current({ repositoryId, pullRequest });
    return current.every(({ id }) => id !== runId);
  }

  /** Reviews of two heads would say the same twice: the one of the newer head cannot know of the other yet. */
  async function isOfOldHead(effect: Effect): Promise<boolean> {
    if (effect.kind !== 'review') return false;
    const reader = github.reader(effect.installation_id, 'run');
    const repo = { owner: effect.owner, name: effect.repo };
    const { headSha } = await reader.pullRequest(repo, effect.pull_request);
    return headSha !== effect.head_sha;
  }

  /** The lease expired, so the next attempt closes the gate check. The row already says so. */
  async function endPass(row: EffectRow): Promise<JobResult> {
    await storage.transaction(async (tx) => {
      await tx.effects.saveProgress(closed(row, clock.now()));
      await tx.audit.record(gateClosed(row, 'not_renewed'));
    });
    return { kind: 'reschedule', at: clock.now() };
  }

  /** A newer request could run before GitHub has executed the earlier one. */
  async function markUnsure(key: string): Promise<void> {
    const row = await storage.read.effects.get(key);
    if (!row) return;
    await save(row, unsure(row));
  }

  /** Requests of the crashed process may still be executing at GitHub. */
  async function onInterrupted(tx: Tx, key: string): Promise<void> {
    const row = await tx.effects.get(key).catch((err) => {
      // One unreadable row must not stop the others. Its own attempt will fail.
      log.error({ effect: key, err }, 'an effect that was cut off cannot be read');
      return undefined;
    });
    const nothingSent = row?.githubId === null && !row.begun;
    if (!row || nothingSent || row.desiredHash === row.appliedHash) return;
    await tx.effects.saveProgress({
      ...row,
      ...unsure(row),
      updatedAt: clock.now(),
    });
  }

  /** The last executed content is unknown too, so even a request for the previous content must be sent. */
  function unsure({ progress }: EffectRow): Pick<EffectRow, 'appliedHash' | 'progress'> {
    const until = new Date(clock.now().getTime() + GITHUB_REQUEST_LIMIT_MS).toISOString();
    return { appliedHash: null, progress: { ...progress, unsure_until: until } };
  }

  /**
   * Why GitHub no longer knows the run's repository or installation: a request would only be rejected. This
   * ends once the pull request could be read again.
   */
  async function unreachableBecause(run: RunOfEffect): Promise<string | undefined> {
    if (!isGone(run)) return undefined;
    const { repositoryId, pullRequest, finishedAt } = run;
    const seen =
      pullRequest === null ? undefined : await storage.read.pullRequests.get(repositoryId, pullRequest);
    const isBack = seen && finishedAt && seen.updatedAt > finishedAt;
    return isBack ? undefined : run.reason?.summary;
  }

  async function onRetriesExhausted(key: string, error: unknown): Promise<void> {
    log.error({ effect: key, err: error }, 'gave up on an effect');
    const row = await storage.read.effects.get(key).catch((err) => {
      log.error({ effect: key, err }, 'an effect that is given up cannot be read');
      return undefined;
    });
    if (!row) return;
    await save(row, failed(row, error));
    await tellRefused(row, messageOf(error));
  }

  /**
   * After an outage of GitHub, a new request is tried at once. After any other failure it would fail again.
   */
  function failed({ progress }: EffectRow, error: unknown): Pick<EffectRow, 'status' | 'error' | 'progress'> {
    const wasUnavailable = error instanceof GitHubError && error.kind === 'unavailable';
    const rests_until = wasUnavailable ? undefined : new Date(clock.now().getTime() + REST_MS).toISOString();
    return { status: 'failed', error: messageOf(error), progress: { ...progress, rests_until } };
  }

  /** @returns whether another desired effect was requested meanwhile */
  function save(row: EffectRow, change: Partial<EffectRow>): Promise<boolean> {
    return storage.transaction((tx) =>
      tx.effects.saveProgress({ ...row, ...change, updatedAt: clock.now() }),
    );
  }

  async function run(key: string, cause?: WriteCause, prepared?: Prepared): Promise<JobResult> {
    const place = prepared && placeOf(prepared.found);
    const seat =
      prepared && place !== undefined && mayShare(prepared.found.row)
        ? together.join(place, prepared.found.row.effect.installation_id, urgencyOf(prepared.found.row))
        : undefined;
    try {
      return await perform(key, cause, prepared, seat);
    } finally {
      seat?.leave();
    }
  }

  return {
    run: ({ key, cause }, _signal, prepared) => run(key, cause, prepared),
    prepare: (tx, { key }) => prepare(tx, key),
    onRetriesExhausted: ({ key }, error) => onRetriesExhausted(key, error),
    onInterrupted: (tx, { key }) => onInterrupted(tx, key),
  };
}

/**
 * How soon closing a gate check is retried after GitHub refused, in milliseconds. First often, then
 * indefinitely: an archived repository or a removed permission can come back with the check still green.
 */
const CLOSE_AGAIN_MS = 15_000;
const SOON_TRIES = 20;
const CLOSE_LATER_MS = 600_000;

/**
 * People wait for a gate check and for a question. Whatever else appears for the first time comes before edits,
 * because several edits may become one while they wait.
 */
function urgencyOf(row: EffectRow): Urgency {
  const name = writeClassOf(row);
  if (name === 'gate' || (name === 'question' && row.githubId === null)) return 'person';
  return row.githubId === null && name !== 'reaction' ? 'run' : 'background';
}

/**
 * Whether GitHub counts the write as created content:
 * https://docs.github.com/en/rest/pulls/review-requests#request-reviewers-for-a-pull-request
 */
function isCreated({ effect, githubId }: EffectRow): boolean {
  const { kind } = effect;
  if (effect.kind === 'issue') return githubId === null && effect.number === null;
  return (
    (kind === 'comment' && githubId === null) ||
    ['review_request', 'review', 'thread_reply', 'backport', 'release'].includes(kind)
  );
}

/** Whether GitHub did not know the run's repository or installation any more when it ended. */
function isGone({ reason }: RunOfEffect): boolean {
  return reason?.code === 'run.aborted.installation_gone' || reason?.code === 'run.aborted.repository_gone';
}

function isRefusal({ kind }: GitHubError): boolean {
  return kind === 'invalid' || kind === 'forbidden';
}

/**
 * Whether GitHub may show the gate as open although it is closed. Closing it then bypasses the write limit.
 */
function mayBeGreen({ effect, appliedHash, progress }: EffectRow): boolean {
  return effect.kind === 'gate_check' && appliedHash === null && progress.concluded === true;
}

/**
 * Whether it begins with its write. One that must be searched for first would let the others wait. Closing a gate check
 * waits for nothing.
 */
function mayShare(row: EffectRow): boolean {
  const { effect, githubId, begun, progress } = row;
  if (!['check_run', 'gate_check', 'comment'].includes(effect.kind)) return false;
  const isSearched = (githubId === null && begun) || (progress.annotating ?? []).length > 0;
  return !isSearched && progress.unsure_until === undefined && !progress.passed && !mayBeGreen(row);
}

/** The pull request or issue that an effect is about; `undefined` for a merge group. */
function placeOf({ row: { effect }, run }: Prepared['found']): string | undefined {
  const number =
    effect.kind === 'gate_check'
      ? effect.pull_request
      : effect.kind === 'comment'
        ? effect.issue
        : (run?.pullRequest ?? null);
  const { installation_id, owner, repo } = effect;
  return number === null ? undefined : `${installation_id} ${owner}/${repo}#${number}`;
}

/** Rows that only record what requires a fresh proof. */
function isLedger({ kind }: Effect): boolean {
  return kind === 'merge' || kind === 'enqueue';
}

/** A chat has nothing to be taken back. */
async function refuse(): Promise<never> {
  throw new Error('only a gate check is closed without permission');
}

/** How many messages are posted to a webhook at once. */
const POSTS_AT_ONCE = 2;
/** The pause before a message that found its webhook busy, in milliseconds. */
const POST_PAUSE_MS = { least: 250, most: 5_000 };

/**
 * Messages to a webhook that is slow would otherwise hold all slots for jobs, and an outsider can cause many of them. Those that wait
 * hold no slot, and come one after the other, as fast as the webhook answers.
 */
function postsInTurn(clock: Clock) {
  const webhooks = new Map<string, { begun: number[]; pauseMs: number; lastInLine: number }>();
  const of = (name: string) => {
    const known = webhooks.get(name) ?? { begun: [], pauseMs: POST_PAUSE_MS.least, lastInLine: 0 };
    webhooks.set(name, known);
    return known;
  };
  return {
    /** @returns when to try again, if the webhook is busy; otherwise `end` must follow */
    begin(name: string): Date | undefined {
      const webhook = of(name);
      const now = clock.now().getTime();
      if (webhook.begun.length < POSTS_AT_ONCE) {
        webhook.begun.push(now);
        return undefined;
      }
      webhook.lastInLine = Math.max(webhook.lastInLine, now) + webhook.pauseMs;
      return new Date(webhook.lastInLine);
    },
    end(name: string): void {
      const webhook = of(name);
      const tookMs = clock.now().getTime() - (webhook.begun.shift() ?? 0);
      webhook.pauseMs = Math.min(Math.max(tookMs / POSTS_AT_ONCE, POST_PAUSE_MS.least), POST_PAUSE_MS.most);
    },
  };
}

async function execute(
  writer: GitHubWriter,
  row: EffectRow,
  { wasBegun, isOfThePast }: { wasBegun: boolean; isOfThePast: boolean },
  note: Note,
): Promise<Progress> {
  const { effect } = row;
  const repo = { owner: effect.owner, name: effect.repo };
  switch (effect.kind) {
    case 'check_run':
    case 'gate_check':
      return checkRun(writer, row, effect, wasBegun, note);
    case 'comment':
      return comment(writer, row, effect, { wasBegun, isOfThePast });
    case 'review_request': {
      // A second request would notify those again who have submitted a review since.
      const isMade =
        wasBegun && (await writer.wasReviewRequested(repo, effect.pull_request, effect, row.createdAt));
      if (!isMade) await writer.requestReviews(repo, effect.pull_request, effect);
      return { githubId: null, progress: {} };
    }
    case 'reaction':
      await writer.react(repo, effect.comment_id, effect.content);
      return { githubId: null, progress: {} };
    case 'label':
      await writer.label(repo, effect.issue, effect.labels);
      return { githubId: null, progress: {} };
    case 'issue':
      return issue(writer, row, effect, wasBegun);
    case 'review':
      return review(writer, effect, wasBegun);
    case 'resolved_finding': {
      // Both can be repeated without harm.
      const { comment_id: id, body, thread } = effect;
      if ((await writer.updateReviewComment(repo, id, body)) === 'updated')
        await writer.resolveThread(thread);
      return { githubId: null, progress: {} };
    }
    case 'thread_reply': {
      const { pull_request: number, thread, marker, body } = effect;
      const made = wasBegun ? await writer.findReviewComment(repo, number, marker) : undefined;
      return { githubId: made ?? (await writer.replyInThread(repo, number, thread, body)), progress: {} };
    }
    case 'assignment':
      await writer.assign(repo, effect.issue, effect.people);
      return { githubId: null, progress: {} };
    case 'milestone':
      await writer.setMilestone(repo, effect.issue, effect.milestone.number);
      return { githubId: null, progress: {} };
    case 'closing':
      await writer.close(repo, effect.issue, effect.reason);
      return { githubId: null, progress: {} };
    case 'branch_deletion':
      await writer.deleteBranch(repo, effect.branch, effect.sha);
      return { githubId: null, progress: {} };
    case 'backport': {
      const { result, number, url } = await writer.backport(repo, effect);
      return { githubId: number ?? null, progress: { result, ...(url === undefined ? {} : { url }) } };
    }
    case 'release': {
      const { result, id, url } = await writer.release(repo, effect);
      return { githubId: id ?? null, progress: { result, ...(url === undefined ? {} : { url }) } };
    }
    case 'update_branch':
      return { githubId: null, progress: { result: await writer.updateBranch(repo, effect) } };
    case 'dispatch': {
      const { id, url } = await writer.startWorkflow(repo, effect, wasBegun);
      return { githubId: id, progress: { url } };
    }
    case 'status':
      await writer.setStatus(repo, effect, wasBegun);
      return { githubId: null, progress: {} };
    case 'webhook':
      throw new Error('a message to a chat is not for GitHub');
    case 'merge':
    case 'enqueue':
      throw new Error('a merge is never made from the outbox: it takes a fresh proof');
    default:
      return unreachable(effect);
  }
}

async function comment(
  writer: GitHubWriter,
  row: EffectRow,
  effect: EffectOf<'comment'>,
  { wasBegun, isOfThePast }: { wasBegun: boolean; isOfThePast: boolean },
): Promise<Progress> {
  const repo = { owner: effect.owner, name: effect.repo };
  const progressOf = ({ authorId, nodeId }: Omit<WrittenComment, 'id'>) => ({
    body_hash: bodyHash(effect.body),
    ...(authorId === undefined ? {} : { author_id: authorId }),
    ...(nodeId === undefined ? {} : { node_id: nodeId }),
  });
  const known =
    row.githubId !== null
      ? { id: row.githubId, authorId: row.progress.author_id, nodeId: row.progress.node_id }
      : wasBegun
        ? await writer.findComment(repo, effect.issue, effect.marker)
        : undefined;
  if (known) {
    // If somebody deletes the comment, it stays deleted. The check run has the same information, and writing
    // it again would be intrusive.
    await writer.updateComment(repo, known.id, effect.body, known.nodeId);
    // After the text, so that it is never collapsed while it still asks something. Both can be repeated.
    if (effect.replaced_by !== undefined && known.nodeId !== undefined)
      await writer.minimizeComment(known.nodeId);
    return { githubId: known.id, progress: progressOf(known) };
  }
  if (isOfThePast) return { githubId: null, progress: {} };
  const created = await writer.createComment(repo, effect.issue, effect.body);
  return { githubId: created.id, progress: progressOf(created) };
}

async function issue(
  writer: GitHubWriter,
  row: EffectRow,
  effect: EffectOf<'issue'>,
  wasBegun: boolean,
): Promise<Progress> {
  const repo = { owner: effect.owner, name: effect.repo };
  const { labels, assignees, title } = effect;
  const body = `${effect.marker}\n${effect.body}`;
  // Somebody has deleted it, or taken its label away to be left alone.
  if (row.githubId !== null && effect.number === null) return { githubId: row.githubId, progress: {} };
  const isNew = effect.number === null;
  let number =
    effect.number ?? (wasBegun ? await writer.findIssue(repo, effect.marker, row.createdAt) : undefined);
  if (number !== undefined)
    await writer.updateIssue(repo, number, { title, body, reopen: effect.closed_at !== null });
  else number = await writer.createIssue(repo, { title, body, assignees });
  // A request of its own, because only this one is known to create labels that do not exist.
  if (isNew) await writer.label(repo, number, labels);
  return { githubId: number, progress: {} };
}

async function review(
  writer: GitHubWriter,
  effect: EffectOf<'review'>,
  wasBegun: boolean,
): Promise<Progress> {
  const repo = { owner: effect.owner, name: effect.repo };
  const { pull_request: number } = effect;
  const made = wasBegun ? await writer.findReview(repo, number, effect.marker) : undefined;
  if (made !== undefined) return { githubId: made, progress: {} };
  try {
    return { githubId: await writer.createReview(repo, number, reviewRequest(effect)), progress: {} };
  } catch (error) {
    const isRefused = error instanceof GitHubError && error.kind === 'invalid';
    if (!isRefused || effect.comments.length === 0) throw error;
    return { githubId: await writer.createReview(repo, number, reviewAlone(effect)), progress: {} };
  }
}

async function checkRun(
  writer: GitHubWriter,
  row: EffectRow,
  effect: EffectOf<'check_run' | 'gate_check'>,
  wasBegun: boolean,
  note: Note,
): Promise<Progress> {
  const repo = { owner: effect.owner, name: effect.repo };
  const { content } = effect;
  const concluded = content.state.status === 'completed';
  let { githubId } = row;
  let { annotations: sent = [], annotating = [], replaces = 0, url, node_id: nodeId } = row.progress;
  if (githubId !== null && row.progress.concluded && !concluded) {
    // GitHub never reopens a completed check run (Mergify and Atlantis found out). Of two with the same name,
    // the newer one counts, so a continued run gets a new one.
    replaces = githubId;
    await note({ githubId: null, progress: { replaces } });
    [githubId, sent, annotating, url, nodeId] = [null, [], [], undefined, undefined];
  } else if ((githubId === null && wasBegun) || annotating.length > 0) {
    const found = await writer.findCheckRun(repo, content.head_sha, content.external_id, replaces);
    githubId ??= found?.id ?? null;
    url ??= found?.url;
    nodeId ??= found?.nodeId;
    // GitHub stores annotations in order, so their number shows which have arrived.
    sent = [...sent, ...annotating.slice(0, Math.max(0, (found?.annotations ?? 0) - sent.length))];
  }
  const unsent = new Map(content.annotations.map((one) => [contentHash(one), one]));
  for (const hash of sent) unsent.delete(hash);
  if (unsent.size > 0) {
    const annotatingNow = [...unsent.keys()];
    await note({
      githubId,
      progress: {
        ...withoutUndefined({ url, nodeId }),
        replaces,
        annotations: sent,
        annotating: annotatingNow,
      },
    });
  }
  const toSend: CheckRunContent = { ...content, annotations: [...unsent.values()] };
  if (githubId === null) ({ id: githubId, nodeId, url } = await writer.createCheckRun(repo, toSend));
  else await writer.updateCheckRun(repo, githubId, toSend, nodeId);
  const annotations = [...sent, ...unsent.keys()];
  return { githubId, progress: { ...withoutUndefined({ url, nodeId }), replaces, concluded, annotations } };
}

function withoutUndefined(known: { url: string | undefined; nodeId: string | undefined }) {
  const { url, nodeId } = known;
  return { ...(url === undefined ? {} : { url }), ...(nodeId === undefined ? {} : { node_id: nodeId }) };
}

/**
 * Without its check run, an open pull request shows nothing, and a required one blocks it. A question that nobody
 * answers causes no new request, so the check run is tried again by itself.
 */
function isWorthRetrying({ effect, attempts }: EffectRow, run: RunOfEffect | undefined): boolean {
  return effect.kind === 'check_run' && attempts < MAX_RESTS && (run?.finishedAt ?? null) === null;
}
