import { unreachable } from '../../core/errors.ts';
import { redact } from '../../core/redact/redact.ts';
import { AUDITED_VERBS, type AuditedVerb } from '../../domain/audit/entry.ts';
import {
  type GivenAt,
  givenByButton,
  givenExactly,
  givenInComment,
  type OrderedVerb,
} from '../../domain/command/order.ts';
import type { WriteCause } from '../../domain/effect/write-cause.ts';
import type { EventOf } from '../../domain/event/event.ts';
import { isAtLeast } from '../../domain/policy/role.ts';
import { type Rollout, rolloutInWords } from '../../domain/policy/rollout.ts';
import { isAboutNow } from '../../domain/run/plan.ts';
import { isRunOver } from '../../domain/run/run.ts';
import { governing } from '../../engine/runs/on-pull-request.ts';
import { pullRequestNow, repositoryFacts } from '../../engine/runs/run-facts.ts';
import { recordedOf, whyNoRun, whyOthersDidNotRun } from '../../engine/runs/why-no-run.ts';
import { commandReply } from '../../messages/comments/command-reply.ts';
import type { PullRequest } from '../../ports/github.ts';
import type { Cause } from '../../ports/jobs.ts';
import type { Tx } from '../../ports/storage.ts';
import { reviewsOfHead, teamsToAccept } from './accept.ts';
import { activeSteps } from './active-steps.ts';
import { type Command, doesWork, type Issuer, mayIssue } from './command.ts';
import type { CommandContext, CommandDeps, Governed } from './context.ts';
import { readRespondent } from './eligibility.ts';
import { executeCommand } from './execute-command.ts';
import { parseCommands } from './parse.ts';
import { type Reply, replyFor } from './reply.ts';
import { ANSWERED_PER_HOUR, type Comment, createCommandHistory, HANDLED_PER_HOUR } from './reply-limit.ts';
import { isRestarted } from './restart.ts';

type CommandEvent = EventOf<'command.issued'>;

/**
 * Handles commands: reacts with 👀, executes each permitted command, then replies with 🎉 or 😕 and a
 * sentence. The changes and the reply of a comment share one transaction. If a delivery is processed twice,
 * the second time finds the reply and does nothing. A button's delivery is marked as done in that
 * transaction. The reply to a command from Studio is stored for Studio.
 */
export function createCommandHandler(
  deps: CommandDeps,
): (event: CommandEvent, cause: Cause | null) => Promise<void> {
  const { storage, github, log, clock } = deps;
  const history = createCommandHistory();

  return async (event, cause) => {
    // Redacts secrets before parsing. A command with a secret then fails to parse. Otherwise it would run
    // with the redacted value, or its reply and job would hold the secret.
    const written = parseCommands(redact(event.text));
    if (written.length === 0) return;
    if (await wasAnswered(storage.read, event)) return;
    const comment = commentOf(event);
    const heard = comment ? history.countBefore(comment, clock.now()) : 0;
    if (heard >= HANDLED_PER_HOUR) {
      log.info({ pull_request: event.pull_request, actor: event.actor }, 'commands passed over: too many');
      return;
    }
    const rollout = await deps.configuration.rolloutOf(event.installation_id, event.repository, {
      urgency: 'person',
    });
    if (rollout.level === 'off') return refuseWhileOff(deps, event, rollout, cause);
    if (heard < ANSWERED_PER_HOUR) await acknowledge(deps, event);

    const repo = event.repository;
    const reader = github.reader(event.installation_id, 'person');
    const [pullRequest, role] = await Promise.all([
      reader.pullRequest(repo, event.pull_request),
      reader.role(repo, event.actor),
    ]);
    const issuer = { role, isAuthor: pullRequest.author.login === event.actor };
    const isOutsider = comment !== undefined && !isAtLeast(role, 'write');
    if (isOutsider) history.note(comment, clock.now());
    const isTooOften = isOutsider && heard >= ANSWERED_PER_HOUR;
    if (!isOutsider && heard >= ANSWERED_PER_HOUR) await acknowledge(deps, event);
    const commands = isTooOften
      ? written.filter(
          (parsed) => 'ok' in parsed && doesWork(parsed.ok.verb) && mayIssue(parsed.ok.verb, issuer),
        )
      : written;
    const configuration = commands.some((parsed) => 'ok' in parsed && parsed.ok.verb === 'fire')
      ? await deps.configuration.forPullRequest(event.installation_id, repo, pullRequest)
      : undefined;
    const respondent = commands.some((parsed) => 'ok' in parsed && isAnswer(parsed.ok))
      ? await readRespondent(
          storage,
          reader,
          event,
          pullRequest,
          await activeSteps(storage.read, event, pullRequest),
          teamsToAccept(await reviewsOfHead(storage.read, event, pullRequest)),
        )
      : undefined;

    const asked = commands.flatMap((parsed) =>
      'ok' in parsed && asksAboutRuns(parsed.ok) ? [parsed.ok] : [],
    );
    const { noRun, others } =
      asked.length > 0
        ? await readNotRun(deps, event, pullRequest, { others: asked.some(({ verb }) => verb === 'why') })
        : {};

    const governed = commands.some((parsed) => 'ok' in parsed && mayRestart(parsed.ok))
      ? await readGoverned(deps, event, pullRequest)
      : undefined;

    const paths = commands.some((parsed) => 'ok' in parsed && namesFile(parsed.ok, issuer))
      ? (await reader.pullRequestFiles(repo, event.pull_request)).files
          .filter(({ status }) => status !== 'removed')
          .map(({ path }) => path)
      : undefined;

    await storage.transaction(async (tx) => {
      if (await wasAnswered(tx, event)) return;
      const moved = await headChangeSince(tx, event, pullRequest);
      const answers: Reply[] = [];
      for (const [line, parsed] of commands.entries()) {
        if ('error' in parsed) answers.push({ ok: false, text: parsed.error });
        else if (!mayIssue(parsed.ok.verb, issuer)) {
          answers.push(replyFor({ kind: 'not_allowed', verb: parsed.ok.verb, role }));
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
            others,
            respondent,
            paths,
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
      if (!isTooOften) await postReplies(deps, tx, event, answers, cause);
      else await answerBriefly(deps, tx, event, answers, heard === ANSWERED_PER_HOUR);
      // A button may have no reply by which a repetition could be detected, so its delivery is marked as done
      // here.
      if (event.via.kind === 'button') await cause?.end?.(tx);
    });
  };
}

/** Nothing is written on GitHub. Somebody in Studio sees why nothing happens. */
async function refuseWhileOff(
  { storage, log }: CommandDeps,
  { via, pull_request, actor }: CommandEvent,
  rollout: Rollout,
  cause: Cause | null,
): Promise<void> {
  const because = rolloutInWords(rollout);
  log.info({ pull_request, actor, because }, 'a command is passed over');
  await storage.transaction(async (tx) => {
    if (via.kind === 'studio')
      await tx.studioCommands.answer(via.command, replyFor({ kind: 'rollout_off', because }));
    await cause?.end?.(tx);
  });
}

/** The position of the command among all that people gave. */
function givenOf(
  { via }: CommandEvent,
  cause: Cause | null,
  verb: OrderedVerb,
  line: number,
  now: Date,
): GivenAt {
  switch (via.kind) {
    case 'comment':
      return givenInComment(via, line);
    case 'button':
      return givenByButton(verb, cause?.sentAt ?? now);
    case 'studio':
      return givenExactly(new Date(via.at));
    default:
      return unreachable(via);
  }
}

function isAnswer({ verb }: Command): boolean {
  return verb === 'approve' || verb === 'reject' || verb === 'accept' || verb === 'withdraw';
}

function asksAboutRuns({ verb }: Command): boolean {
  return verb === 'why' || verb === 'status';
}

function namesFile(command: Command, issuer: Issuer): boolean {
  return command.verb === 'review' && command.path !== undefined && mayIssue('review', issuer);
}

function mayRestart({ verb }: Command): boolean {
  return verb === 'rerun' || verb === 'review' || verb === 'ci';
}

/**
 * For which pull requests the chains are now, from GitHub. `undefined` if no run of the head was cancelled.
 */
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
    rollout: configuration?.rollout,
    repository: repositoryFacts(event, pullRequest.defaultBranch),
  };
}

/**
 * Why the current pull request has no run, from GitHub. Not said if it has one, or if any run is active: one for an
 * earlier state is about to be ended by an event. Then only the other chains are explained, if somebody wants that.
 */
async function readNotRun(
  deps: CommandDeps,
  event: CommandEvent,
  pullRequest: PullRequest,
  wanted: { others: boolean },
): Promise<Partial<Pick<CommandContext, 'noRun' | 'others'>>> {
  const { repository, pull_request } = event;
  const runs = await deps.storage.read.runs.current({
    repositoryId: repository.id,
    pullRequest: pull_request,
  });
  const hasRun = runs.some((run) => !isRunOver(run.status) || isAboutNow(run, pullRequest));
  if (hasRun && !wanted.others) return {};
  const { configuration, listed } = await governing(deps, event, pullRequest);
  const now = pullRequestNow(pullRequest, listed);
  const facts = repositoryFacts(event, pullRequest.defaultBranch);
  const of = { repositoryId: repository.id, pullRequest: pull_request };
  const recorded = await recordedOf(deps.storage.read, of, deps.clock.now());
  if (!hasRun) return { noRun: whyNoRun(now, configuration, facts, recorded) };
  const ran = new Set(runs.map(({ chain }) => chain));
  return {
    others: whyOthersDidNotRun({ pullRequest: now, configuration, repository: facts }, ran, recorded),
  };
}

async function wasAnswered(tx: Tx, { via }: CommandEvent): Promise<boolean> {
  switch (via.kind) {
    case 'comment':
      if ((await tx.effects.get(`command:${via.comment_id}:answer`)) !== undefined) return true;
      return (await tx.skillCalls.ofComment(via.comment_id)) !== undefined;
    case 'button':
      return false;
    case 'studio':
      // A row that is gone is a day old.
      return (await tx.studioCommands.get(via.command))?.answer !== null;
    default:
      return unreachable(via);
  }
}

/**
 * The change of the head since the command was written. A comment's webhook names no head, so its time is
 * compared with the newest push. A button belongs to the head of its check run or page.
 */
async function headChangeSince(
  tx: Tx,
  event: CommandEvent,
  pullRequest: PullRequest,
): Promise<{ from: string; to: string } | undefined> {
  const { via } = event;
  if (via.kind !== 'comment') {
    return via.head_sha === pullRequest.headSha ? undefined : { from: via.head_sha, to: pullRequest.headSha };
  }
  const row = await tx.pullRequests.get(event.repository.id, event.pull_request);
  if (!row?.headSha) return undefined;
  // A push that the app has not seen yet may be older or newer than the command.
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

async function postReplies(
  deps: CommandDeps,
  tx: Tx,
  event: CommandEvent,
  answers: readonly Reply[],
  cause: Cause | null,
): Promise<void> {
  const ok = answers.every((one) => one.ok);
  if (event.via.kind === 'studio') {
    const text = answers.map((one) => one.text).join('\n\n');
    await tx.studioCommands.answer(event.via.command, { ok, text });
    return;
  }
  if (event.via.kind === 'button') {
    // A button's effect shows on its check run. Only if the button was an answer or came too late would the
    // person see nothing.
    const mattersToPerson = event.via.question !== undefined || answers.some(({ overtaken }) => overtaken);
    if (!mattersToPerson || ok || !cause) return;
    await requestComment(deps, tx, event, `button-${cause.deliveryId}`, answers);
    return;
  }
  const later = answers.find((one) => one.later !== undefined)?.later;
  if (later === undefined) await react(deps, tx, event, ok ? 'hooray' : 'confused', 'answer');
  else
    await deps.queue.enqueue(tx, {
      kind: 'ask',
      installationId: event.installation_id,
      key: later,
      payload: { callId: later, othersOk: ok },
    });
  const now = answers.filter((one) => one.later === undefined);
  if (now.length > 0) await requestComment(deps, tx, event, event.via.comment_id, now);
}

/** For somebody who had many replies: one sentence the first time, then only reactions. */
async function answerBriefly(
  deps: CommandDeps,
  tx: Tx,
  event: CommandEvent,
  answers: readonly Reply[],
  isFirst: boolean,
): Promise<void> {
  const ok = answers.length > 0 && answers.every((one) => one.ok);
  await react(deps, tx, event, ok ? 'hooray' : 'confused', 'answer');
  if (isFirst && event.via.kind === 'comment') {
    await requestComment(deps, tx, event, event.via.comment_id, [
      replyFor({ kind: 'too_often', most: ANSWERED_PER_HOUR }),
    ]);
  }
}

/** `undefined` for a button, which only people with write access can press, and for Studio, which has a limit of its own. */
function commentOf({ repository, pull_request, actor, via }: CommandEvent): Comment | undefined {
  if (via.kind !== 'comment') return undefined;
  return { repositoryId: repository.id, pullRequest: pull_request, login: actor, commentId: via.comment_id };
}

/** @param to the comment's id, or an id for the pressed button */
async function requestComment(
  deps: CommandDeps,
  tx: Tx,
  event: CommandEvent,
  to: number | string,
  answers: readonly Reply[],
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

/**
 * Records an executed command that changes something. Refused commands are not recorded: anybody can write a
 * comment and the log is never pruned, so an untrusted user could fill it.
 */
async function auditCommand(command: Command, { tx, event, pullRequest }: CommandContext): Promise<void> {
  const verb = auditedVerb(command);
  if (verb === undefined) return;
  const { repository, via } = event;
  await tx.audit.record({
    kind: 'command.carried_out',
    by: { kind: 'person', login: event.actor },
    repository: { id: repository.id, name: `${repository.owner}/${repository.name}` },
    pull_request: event.pull_request,
    head_sha: pullRequest.headSha,
    base_ref: pullRequest.baseRef,
    configuration_sha: null,
    run_id: null,
    verb,
    via: via.kind === 'comment' ? { kind: 'comment', comment_id: via.comment_id } : { kind: via.kind },
    ...('step' in command && command.step !== undefined ? { step: command.step } : {}),
    ...('path' in command && command.path !== undefined ? { file: command.path } : {}),
    ...(command.verb === 'fire' ? { chain: command.chain, inputs: command.inputs } : {}),
  });
}

function auditedVerb({ verb }: Command): AuditedVerb | undefined {
  return AUDITED_VERBS.find((audited) => audited === verb);
}
