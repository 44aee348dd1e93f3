import { unreachable } from '../../core/errors.ts';
import { redact } from '../../core/redact/redact.ts';
import { type GivenAt, givenByButton, givenInComment, type OrderedVerb } from '../../domain/command/order.ts';
import type { WriteCause } from '../../domain/effect/write-cause.ts';
import type { EventOf } from '../../domain/event/event.ts';
import type { Explanation } from '../../domain/explanation/explanation.ts';
import { isAtLeast } from '../../domain/policy/role.ts';
import type { Cause } from '../../domain/run/actor.ts';
import { isAboutNow } from '../../domain/run/plan.ts';
import { isRunOver } from '../../domain/run/run.ts';
import { governing, pullRequestNow, repositoryFacts } from '../../engine/runs/on-pull-request.ts';
import { whyNoRun } from '../../engine/runs/why-no-run.ts';
import { commandReply } from '../../messages/command-reply.ts';
import type { PullRequest } from '../../ports/github.ts';
import type { Tx } from '../../ports/storage.ts';
import { type Answer, said } from './answer.ts';
import { auditCommand } from './audit.ts';
import { type Command, doesWork, mayIssue } from './command.ts';
import type { CommandDeps, Governed } from './context.ts';
import { readWouldAnswer } from './eligibility.ts';
import { executeCommand } from './execute-command.ts';
import { parseCommands } from './parse.ts';
import { askingSteps } from './questions.ts';
import { ANSWERED_AN_HOUR, type Comment, createHowOften, HEARD_AN_HOUR } from './reply-limit.ts';
import { isRestarted } from './restart.ts';

type CommandEvent = EventOf<'command.issued'>;

/**
 * Hears commands: acknowledges with 👀, carries each out if its writer may, and answers with 🎉 or 😕 and a sentence.
 * What a comment sets in motion and the answer to it are written in one transaction, so a delivery that comes twice
 * finds the answer there and does nothing; a button's delivery is done in that transaction.
 */
export function createCommandHandler(
  deps: CommandDeps,
): (event: CommandEvent, cause: Cause | null) => Promise<void> {
  const { storage, github, log, clock } = deps;
  const howOften = createHowOften();

  return async (event, cause) => {
    // A secret is hidden before the text is read: a command that holds one is not understood, rather than carried out with a
    // value that nobody wrote, and neither the answer nor the queue holds it.
    const written = parseCommands(redact(event.text));
    if (written.length === 0) return;
    if (await wasAnswered(storage.read, event)) return;
    const comment = commentOf(event);
    const heard = comment ? howOften.heardBefore(comment, clock.now()) : 0;
    if (heard >= HEARD_AN_HOUR) {
      log.info({ pull_request: event.pull_request, actor: event.actor }, 'commands passed over: too many');
      return;
    }
    if (heard < ANSWERED_AN_HOUR) await acknowledge(deps, event);

    const repo = event.repository;
    const reader = github.reader(event.installation_id, 'person');
    const [pullRequest, role] = await Promise.all([
      reader.pullRequest(repo, event.pull_request),
      reader.role(repo, event.actor),
    ]);
    const issuer = { role, isAuthor: pullRequest.author.login === event.actor };
    const isOutsider = comment !== undefined && !isAtLeast(role, 'write');
    if (isOutsider) howOften.note(comment, clock.now());
    const isTooOften = isOutsider && heard >= ANSWERED_AN_HOUR;
    if (!isOutsider && heard >= ANSWERED_AN_HOUR) await acknowledge(deps, event);
    const commands = isTooOften
      ? written.filter(
          (parsed) => 'ok' in parsed && doesWork(parsed.ok.verb) && mayIssue(parsed.ok.verb, issuer),
        )
      : written;
    const configuration = commands.some((parsed) => 'ok' in parsed && parsed.ok.verb === 'fire')
      ? await deps.configuration.forPullRequest(event.installation_id, repo, pullRequest)
      : undefined;
    const would = commands.some((parsed) => 'ok' in parsed && isAnswer(parsed.ok))
      ? await readWouldAnswer(
          storage,
          reader,
          event,
          pullRequest,
          await askingSteps(storage.read, event, pullRequest),
        )
      : undefined;

    const noRun = commands.some((parsed) => 'ok' in parsed && asksAboutRuns(parsed.ok))
      ? await readNoRun(deps, event, pullRequest)
      : undefined;

    const governed = commands.some((parsed) => 'ok' in parsed && mayBeginAgain(parsed.ok))
      ? await readGoverned(deps, event, pullRequest)
      : undefined;

    await storage.transaction(async (tx) => {
      if (await wasAnswered(tx, event)) return;
      const moved = await headMovedSince(tx, event, pullRequest);
      const answers: Answer[] = [];
      for (const [line, parsed] of commands.entries()) {
        if ('error' in parsed) answers.push({ ok: false, text: parsed.error });
        else if (!mayIssue(parsed.ok.verb, issuer)) {
          answers.push(said({ kind: 'not_allowed', verb: parsed.ok.verb, role }));
        } else {
          const context = {
            deps,
            tx,
            event,
            pullRequest,
            moved,
            issuer,
            configuration,
            governed,
            noRun,
            would,
            given: (verb: OrderedVerb) => givenOf(event, cause, verb, line, deps.clock.now()),
          };
          const done = await executeCommand(parsed.ok, context);
          if (done.ok) await auditCommand(parsed.ok, context);
          answers.push(done);
        }
      }
      log.info(
        { repository: `${repo.owner}/${repo.name}`, pull_request: event.pull_request, actor: event.actor },
        'commands answered',
      );
      if (!isTooOften) await answer(deps, tx, event, answers, cause);
      else await answerBriefly(deps, tx, event, answers, heard === ANSWERED_AN_HOUR);
      // A button gets no answer that would be found again: its delivery is over in the same moment.
      if (event.via.kind === 'button' && cause?.endsDelivery) {
        await tx.deliveries.setStatus(cause.deliveryId, 'done', deps.clock.now());
      }
    });
  };
}

/** Where the command stands among all that people gave. */
function givenOf(
  { via }: CommandEvent,
  cause: Cause | null,
  verb: OrderedVerb,
  line: number,
  now: Date,
): GivenAt {
  return via.kind === 'comment' ? givenInComment(via, line) : givenByButton(verb, cause?.sentAt ?? now);
}

function isAnswer({ verb }: Command): boolean {
  return verb === 'approve' || verb === 'reject';
}

function asksAboutRuns({ verb }: Command): boolean {
  return verb === 'why' || verb === 'status';
}

function mayBeginAgain({ verb }: Command): boolean {
  return verb === 'rerun' || verb === 'review' || verb === 'ci';
}

/** What chains are for now, from GitHub; `undefined` when no run of the head was cancelled. */
async function readGoverned(
  deps: CommandDeps,
  event: CommandEvent,
  pullRequest: PullRequest,
): Promise<Governed | undefined> {
  const runs = await deps.storage.read.runs.list({
    repositoryId: event.repository.id,
    pullRequest: event.pull_request,
    headSha: pullRequest.headSha,
  });
  if (!runs.some(isRestarted)) return undefined;
  const { configuration, listed } = await governing(deps, event, pullRequest);
  return {
    now: pullRequestNow(pullRequest, listed),
    branch: configuration?.branch ?? pullRequest.baseRef,
    chains: configuration?.chains ?? [],
    repository: repositoryFacts(event, pullRequest.defaultBranch),
  };
}

/**
 * Why there is no run of the pull request as it is now, from GitHub; `undefined` when there is one, which speaks for itself, or
 * when one is under way: if that is about what the pull request was, the event that ends it is on its way.
 */
async function readNoRun(
  deps: CommandDeps,
  event: CommandEvent,
  pullRequest: PullRequest,
): Promise<Explanation | undefined> {
  const { repository, pull_request } = event;
  const runs = await deps.storage.read.runs.current({
    repositoryId: repository.id,
    pullRequest: pull_request,
  });
  if (runs.some((run) => !isRunOver(run.status) || isAboutNow(run, pullRequest))) return undefined;
  const { configuration, listed } = await governing(deps, event, pullRequest);
  const now = pullRequestNow(pullRequest, listed);
  return whyNoRun(now, configuration, repositoryFacts(event, pullRequest.defaultBranch));
}

function answerKey(event: CommandEvent): string | undefined {
  switch (event.via.kind) {
    case 'comment':
      return `command:${event.via.comment_id}:answer`;
    case 'button':
      return undefined;
    default:
      return unreachable(event.via);
  }
}

async function wasAnswered(tx: Tx, event: CommandEvent): Promise<boolean> {
  const key = answerKey(event);
  if (key === undefined || event.via.kind !== 'comment') return false;
  if ((await tx.effects.get(key)) !== undefined) return true;
  return (await tx.skillCalls.ofComment(event.via.comment_id)) !== undefined;
}

/**
 * A command's webhook carries no head. One that was written before the newest push was not meant for it; a button
 * belongs to the head of its check run.
 */
async function headMovedSince(
  tx: Tx,
  event: CommandEvent,
  pullRequest: PullRequest,
): Promise<{ from: string; to: string } | undefined> {
  const { via } = event;
  if (via.kind === 'button') {
    return via.head_sha === pullRequest.headSha ? undefined : { from: via.head_sha, to: pullRequest.headSha };
  }
  const row = await tx.pullRequests.get(event.repository.id, event.pull_request);
  if (!row?.headSha) return undefined;
  // A push that this app has not heard of yet may have come before the command or after it.
  if (row.headSha !== pullRequest.headSha) return { from: row.headSha, to: pullRequest.headSha };
  const isOlder = row.headSeenAt !== null && new Date(via.created_at) < row.headSeenAt;
  return row.previousHeadSha !== null && isOlder
    ? { from: row.previousHeadSha, to: pullRequest.headSha }
    : undefined;
}

async function acknowledge(deps: CommandDeps, event: CommandEvent): Promise<void> {
  await deps.storage.transaction((tx) => react(deps, tx, event, 'eyes', 'seen'));
}

async function react(
  deps: CommandDeps,
  tx: Tx,
  event: CommandEvent,
  content: 'eyes' | 'hooray' | 'confused',
  stage: 'seen' | 'answer',
): Promise<void> {
  if (event.via.kind !== 'comment') return;
  await deps.outbox.request(
    tx,
    `command:${event.via.comment_id}:${stage}`,
    { kind: 'reaction', ...place(event), comment_id: event.via.comment_id, content },
    { runId: null, at: deps.clock.now(), cause: causeOf(event) },
  );
}

async function answer(
  deps: CommandDeps,
  tx: Tx,
  event: CommandEvent,
  answers: readonly Answer[],
  cause: Cause | null,
): Promise<void> {
  const ok = answers.every((one) => one.ok);
  if (event.via.kind === 'button') {
    // What a button did is seen on its check run; whoever's answer or button does not count would see nothing at all.
    const isTold = event.via.question !== undefined || answers.some(({ overtaken }) => overtaken);
    if (!isTold || ok || !cause) return;
    await reply(deps, tx, event, `button-${cause.deliveryId}`, answers);
    return;
  }
  const later = answers.find((one) => one.later !== undefined)?.later;
  if (later === undefined) await react(deps, tx, event, ok ? 'hooray' : 'confused', 'answer');
  else
    await deps.queue.enqueue(tx, {
      kind: 'ask',
      key: later,
      payload: { callId: later, othersOk: ok },
    });
  const now = answers.filter((one) => one.later === undefined);
  if (now.length > 0) await reply(deps, tx, event, event.via.comment_id, now);
}

/** To somebody who was answered often enough: one sentence the first time, and a reaction from then on. */
async function answerBriefly(
  deps: CommandDeps,
  tx: Tx,
  event: CommandEvent,
  answers: readonly Answer[],
  isFirst: boolean,
): Promise<void> {
  const ok = answers.length > 0 && answers.every((one) => one.ok);
  await react(deps, tx, event, ok ? 'hooray' : 'confused', 'answer');
  if (isFirst && event.via.kind === 'comment') {
    await reply(deps, tx, event, event.via.comment_id, [said({ kind: 'too_often', most: ANSWERED_AN_HOUR })]);
  }
}

/** Buttons belong to people who can write. */
function commentOf({ repository, pull_request, actor, via }: CommandEvent): Comment | undefined {
  if (via.kind !== 'comment') return undefined;
  return { repositoryId: repository.id, pullRequest: pull_request, login: actor, commentId: via.comment_id };
}

/** @param to the comment's id, or what names a button that was pressed. */
async function reply(
  deps: CommandDeps,
  tx: Tx,
  event: CommandEvent,
  to: number | string,
  answers: readonly Answer[],
): Promise<void> {
  const { marker, body } = commandReply(to, answers);
  await deps.outbox.request(
    tx,
    `command:${to}:reply`,
    { kind: 'comment', ...place(event), issue: event.pull_request, marker, body },
    { runId: null, at: deps.clock.now(), cause: causeOf(event) },
  );
}

function causeOf({ actor, repository, pull_request }: CommandEvent): WriteCause {
  return { person: actor, pullRequest: `${repository.id}#${pull_request}` };
}

function place(event: CommandEvent): { installation_id: number; owner: string; repo: string } {
  const { owner, name } = event.repository;
  return { installation_id: event.installation_id, owner, repo: name };
}
