import { basename } from 'node:path';
import { formatDiagnostic } from '../../core/diagnostic.ts';
import { unreachable } from '../../core/errors.ts';
import { merges } from '../../domain/chain/chain.ts';
import { readFired } from '../../domain/chain/fired-inputs.ts';
import { followsPullRequest, triggersOf } from '../../domain/chain/trigger-schema.ts';
import { reason } from '../../domain/explanation/reason.ts';
import { explain, explainText } from '../../domain/run/explain.ts';
import { type Invocation, isStepOver, type Run, type RunState } from '../../domain/run/run.ts';
import type { Signal } from '../../domain/run/transition.ts';
import { statusComment } from '../../messages/comments/status-comment.ts';
import { heldBecause } from '../../messages/run/held-chain.ts';
import { codeBlock } from '../../messages/text/markdown.ts';
import { acceptFinding, withdrawFinding } from './accept.ts';
import type { Command } from './command.ts';
import { overtaken, remember } from './command-order.ts';
import { confirm } from './confirm.ts';
import type { CommandContext } from './context.ts';
import { forgetRule } from './forget.ts';
import { helpText } from './help.ts';
import type { CommandResult } from './replies.ts';
import { type Reply, replyFor, replyForAll, textReply } from './reply.ts';
import { beginAgain, fireChain, isRestarted } from './restart.ts';

/** Executes a permitted command, in the transaction of its reply. */
export async function executeCommand(command: Command, context: CommandContext): Promise<Reply> {
  const { pullRequest, moved } = context;
  switch (command.verb) {
    case 'help':
      return textReply(helpText());
    case 'status':
      return status(context);
    case 'why':
      return whyNot(context);
    default:
      break;
  }
  if (pullRequest.state === 'closed') return replyFor({ kind: 'closed' });
  if (moved) return replyFor({ kind: 'head_moved', ...moved });
  switch (command.verb) {
    case 'rerun':
      return rerun(context, command.step);
    case 'review':
      return command.path === undefined
        ? rerunSkill(context, 'review', REVIEW_SKILLS, {
            kind: 'review_started',
            head: pullRequest.headSha,
          })
        : reviewFile(context, command.path);
    case 'ci':
      return rerunSkill(context, 'ci', ['ci'], { kind: 'ci_read_again' });
    case 'approve':
    case 'reject':
      return confirm(command, context);
    case 'accept':
      return acceptFinding(command, context);
    case 'withdraw':
      return withdrawFinding(command, context);
    case 'forget':
      return forgetRule(command, context);
    case 'cancel':
      return cancel(context);
    case 'pause':
      return pause(context);
    case 'resume':
      return resume(context);
    case 'fire':
      return fire(context, command.chain, command.inputs);
    case 'ask':
      return ask(command.question, context);
    default:
      return unreachable(command.verb);
  }
}

/** The newest run of each chain of the pull request, newest first. */
async function newestRuns({ tx, event }: CommandContext): Promise<RunState[]> {
  const runs = await tx.runs.current({
    repositoryId: event.repository.id,
    pullRequest: event.pull_request,
  });
  const seen = new Set<string>();
  const states: RunState[] = [];
  for (const run of runs) {
    if (run.facts.parent || seen.has(run.chain)) continue;
    seen.add(run.chain);
    const state = await tx.runs.load(run.id);
    if (state) states.push(state);
  }
  return states;
}

/** Sends a signal to the engine, with the author of the command as the actor. */
async function signal({ deps, tx, event }: CommandContext, run: Run, what: Signal): Promise<void> {
  await deps.engine.signal(tx, run.id, what, { kind: 'person', login: event.actor });
}

async function approvalOf({ tx }: CommandContext, run: Run) {
  return (await tx.approvals.ofRun(run.id)).at(-1) ?? null;
}

async function status(context: CommandContext): Promise<Reply> {
  const states = await newestRuns(context);
  if (states.length === 0) return withoutRun(context);
  const views = [];
  for (const state of states) {
    views.push({ state, approval: await approvalOf(context, state.run), checkRunUrl: null });
  }
  // Without its first line, the marker: only one comment may have it.
  const cards = statusComment(views).split('\n').slice(1).join('\n');
  return textReply([...noRunNow(context), cards].join('\n\n'));
}

async function whyNot(context: CommandContext): Promise<Reply> {
  const states = await newestRuns(context);
  if (states.length === 0) return withoutRun(context);
  const texts = noRunNow(context);
  for (const state of states) {
    texts.push(codeBlock(explainText(explain(state, await approvalOf(context, state.run)))));
  }
  if (context.others) texts.push(codeBlock(explainText(context.others)));
  return textReply(texts.join('\n\n'));
}

/** The explanation that precedes the runs if none of them is about the current pull request. */
function noRunNow({ noRun }: CommandContext): string[] {
  return noRun ? [codeBlock(explainText(noRun))] : [];
}

function withoutRun(context: CommandContext): Reply {
  const [text] = noRunNow(context);
  return text === undefined ? replyFor({ kind: 'no_run' }) : textReply(text);
}

async function rerun(context: CommandContext, step: string | undefined): Promise<Reply> {
  const { states, notForDrafts, none } = await runsOfHead(context);
  if (states.length === 0) return none;
  const wanted = (state: RunState) =>
    step === undefined ? firstUnmet(state) : state.invocations.find((one) => one.stepId === step);
  const restarted: string[] = [];
  const refusals: CommandResult[] = [];
  for (const state of states) {
    const { chain } = state.run;
    const newRun = isRestarted(state.run);
    if (!newRun && !wanted(state)) continue;
    const ordered = { kind: 'begin', verb: 'rerun', chain, newRun } as const;
    const refusal =
      (await overtaken(context, ordered)) ??
      (newRun ? await beginAgain(context, 'rerun', state.run) : undefined);
    if (refusal) {
      refusals.push(refusal);
      continue;
    }
    await remember(context, ordered);
    restarted.push(
      ...(newRun
        ? state.invocations.map((invocation) => invocation.stepId)
        : await restart(context, state, wanted)),
    );
  }
  if (restarted.length > 0) {
    return replyForAll({ kind: 'rerun_started', steps: [...new Set(restarted)] }, refusals);
  }
  if (refusals[0]) return replyFor(refusals[0]);
  if (notForDrafts.some(wanted)) return replyFor({ kind: 'draft' });
  if (step === undefined) return replyFor({ kind: 'nothing_to_rerun' });
  const steps = states.flatMap((state) => state.invocations.map((invocation) => invocation.stepId));
  return replyFor({ kind: 'no_such_step', step, steps });
}

/**
 * The runs of this head that a command can start again, and the reply if there are none. Runs of chains that
 * do not apply to the pull request now are left to their triggers: a run that a command starts for a draft
 * would be cancelled by the next event.
 */
async function runsOfHead(
  context: CommandContext,
): Promise<{ states: RunState[]; notForDrafts: RunState[]; none: Reply }> {
  const { headSha, draft } = context.pullRequest;
  const ofHead = (await newestRuns(context)).filter(({ run }) => run.headSha === headSha);
  const waitsForReady = ({ run: { event, definition } }: RunState) => {
    const following = triggersOf(definition).filter(followsPullRequest);
    const wantsReady = following.length > 0 && following.every(({ filter }) => filter.draft === false);
    return draft && wantsReady && event.kind !== 'manual.fired';
  };
  const states = ofHead.filter((state) => {
    const code = state.run.reason?.code;
    const isMeant = code !== 'run.cancelled.not_triggered' && code !== 'run.cancelled.draft';
    return isMeant && !waitsForReady(state);
  });
  const notForDrafts = ofHead.filter(waitsForReady);
  return { states, notForDrafts, none: replyFor({ kind: notForDrafts.length > 0 ? 'draft' : 'no_run' }) };
}

/** Runs the given steps of a run again, each once, together with the steps that depend on them. */
async function restart(
  context: CommandContext,
  { run, invocations }: RunState,
  wanted: (state: RunState) => Invocation | undefined,
): Promise<string[]> {
  const restarted: string[] = [];
  for (let left = invocations.length; left > 0; left--) {
    const state = await context.tx.runs.load(run.id);
    const target = state && wanted(state);
    if (!target || restarted.includes(target.stepId)) break;
    await signal(context, run, { kind: 'rerun', stepIndex: target.stepIndex });
    restarted.push(target.stepId);
  }
  return restarted;
}

/** The first step that failed or whose outcome did not pass. */
function firstUnmet(state: RunState): Invocation | undefined {
  return state.invocations.find(
    (step) =>
      step.status === 'failed' ||
      step.status === 'timed_out' ||
      (step.status === 'completed' && step.outcome?.passed !== true),
  );
}

/** The built-in skills that `/countersign review` runs again. */
const REVIEW_SKILLS = ['pr-review', 'codex-pr-review'];

/** Has every review of the head read one file again. Codex reads the whole change at once, or not at all. */
async function reviewFile(context: CommandContext, path: string): Promise<Reply> {
  const { paths = [], pullRequest } = context;
  if (!paths.includes(path)) return replyFor({ kind: 'no_such_file', path, paths });
  const started = { kind: 'file_review_started', path, head: pullRequest.headSha } as const;
  return rerunSkill(context, 'review', ['pr-review'], started, path);
}

/**
 * Runs every step that uses one of the skills again, or wakes it if it waits.
 * @param file the only file that a review reads again; it needs a review of this head to keep the rest of
 */
async function rerunSkill(
  context: CommandContext,
  verb: 'review' | 'ci',
  skills: readonly string[],
  result: CommandResult,
  file?: string,
): Promise<Reply> {
  const { states, none } = await runsOfHead(context);
  let found = false;
  const refusals: CommandResult[] = [];
  for (const state of states) {
    const { run } = state;
    const uses = state.invocations.filter(({ stepIndex }) =>
      skills.includes(run.definition.steps[stepIndex]?.uses.name ?? ''),
    );
    const step = uses.find(({ status }) => status !== 'pending');
    if (!step) {
      if (uses[0]) refusals.push({ kind: 'step_not_begun', step: uses[0].stepId });
      continue;
    }
    const newRun = isRestarted(run);
    if (file !== undefined && (newRun || step.outcome?.outcome_kind !== 'review_verdict')) {
      refusals.push({ kind: 'no_rest', head: run.headSha });
      continue;
    }
    const ordered = { kind: 'begin', verb, chain: run.chain, newRun } as const;
    const refusal =
      (await overtaken(context, ordered)) ?? (newRun ? await beginAgain(context, verb, run) : undefined);
    if (refusal) {
      refusals.push(refusal);
      continue;
    }
    await remember(context, ordered);
    if (!newRun) {
      const { stepIndex, status, oneFile } = step;
      // A review of one file that is under way would not read the others.
      const what: Signal =
        isStepOver(status) || oneFile !== null
          ? { kind: 'rerun', stepIndex, ...(file !== undefined && { file }) }
          : { kind: 'wake', for: ['ci', 'until'] };
      await signal(context, run, what);
    }
    found = true;
  }
  if (found) {
    // The author need not know that another chain has the same skill in a later step.
    return replyForAll(
      result,
      refusals.filter(({ kind }) => kind !== 'step_not_begun'),
    );
  }
  if (refusals[0]) return replyFor(refusals[0]);
  return states.length > 0 ? replyFor({ kind: 'skill_not_used', skill: skills[0] ?? verb }) : none;
}

async function cancel(context: CommandContext): Promise<Reply> {
  const { actor } = context.event;
  const { running, newer } = await runsToCancel(context);
  await remember(context, { kind: 'stop', verb: 'cancel', chain: null });
  if (running.length === 0 && newer) return replyFor(newer);
  for (const run of running) {
    await signal(context, run, {
      kind: 'end',
      status: 'cancelled',
      reason: reason('run.cancelled.by_person', `cancelled by ${actor}`, [
        { kind: 'person', id: actor, label: actor },
      ]),
    });
  }
  return replyFor(
    running.length === 0 ? { kind: 'nothing_to_cancel' } : { kind: 'cancelled', runs: running.length },
  );
}

/** The active runs, except those of chains that somebody started again after the command was given. */
async function runsToCancel(
  context: CommandContext,
): Promise<{ running: Run[]; newer: CommandResult | undefined }> {
  const running: Run[] = [];
  let newer: CommandResult | undefined;
  for (const run of await runsUnderWay(context)) {
    const because = await overtaken(context, { kind: 'stop', verb: 'cancel', chain: run.chain });
    if (because) newer = because;
    else running.push(run);
  }
  return { running, newer };
}

function runsUnderWay({ tx, event }: CommandContext): Promise<Run[]> {
  return tx.runs.list({
    repositoryId: event.repository.id,
    pullRequest: event.pull_request,
    active: true,
  });
}

async function pause(context: CommandContext): Promise<Reply> {
  const newer = await recordHold(context, 'pause');
  if (newer) return replyFor(newer);
  const { tx, event } = context;
  const row = await tx.pullRequests.get(event.repository.id, event.pull_request);
  if (row?.pausedBy) return replyFor({ kind: 'already_paused', by: row.pausedBy });
  await setPaused(context, event.actor);
  return replyFor({ kind: 'paused' });
}

async function resume(context: CommandContext): Promise<Reply> {
  const newer = await recordHold(context, 'resume');
  if (newer) return replyFor(newer);
  const { tx, event } = context;
  const row = await tx.pullRequests.get(event.repository.id, event.pull_request);
  if (!row?.pausedBy) return replyFor({ kind: 'not_paused' });
  await setPaused(context, null);
  return replyFor({ kind: 'resumed' });
}

/** Recorded even if nothing changes, so that an older command that arrives later does not win. */
async function recordHold(
  context: CommandContext,
  verb: 'pause' | 'resume',
): Promise<CommandResult | undefined> {
  const ordered = { kind: 'hold', verb } as const;
  const newer = await overtaken(context, ordered);
  if (!newer) await remember(context, ordered);
  return newer;
}

async function setPaused(context: CommandContext, pausedBy: string | null): Promise<void> {
  const { deps, tx, event } = context;
  const row = await tx.pullRequests.get(event.repository.id, event.pull_request);
  await tx.pullRequests.upsert({
    repositoryId: event.repository.id,
    number: event.pull_request,
    repository: `${event.repository.owner}/${event.repository.name}`,
    installationId: event.installation_id,
    headSha: row?.headSha ?? null,
    previousHeadSha: row?.previousHeadSha ?? null,
    headSeenAt: row?.headSeenAt ?? null,
    pausedBy,
    updatedAt: deps.clock.now(),
  });
  for (const run of await runsUnderWay(context)) {
    await signal(context, run, { kind: pausedBy === null ? 'resume' : 'pause' });
  }
}

async function fire(context: CommandContext, chain: string, inputs: Record<string, string>): Promise<Reply> {
  const { chains = [], broken = [], held = [] } = context.configuration ?? {};
  const hold = held.find(({ name }) => name === chain);
  if (hold) return replyFor({ kind: 'chain_held', because: heldBecause(hold) });
  const found = chains.find(({ name }) => name === chain);
  if (!found) {
    const [diagnostic] =
      broken.find(({ file }) => basename(file).replace(/\.ya?ml$/, '') === chain)?.diagnostics ?? [];
    if (diagnostic)
      return replyFor({ kind: 'broken_chain', chain, diagnostic: formatDiagnostic(diagnostic) });
    return replyFor({ kind: 'no_such_chain', chain, chains: chains.map(({ name }) => name) });
  }
  // Its approval comment would be void at the next change of the pull request.
  if (context.pullRequest.draft && merges(found)) {
    return replyFor({ kind: 'merges_no_draft', chain });
  }
  const read = readFired(found, inputs);
  if ('problem' in read) return replyFor({ kind: 'bad_inputs', chain, problem: read.problem });
  const ordered = { kind: 'begin', verb: 'fire', chain, newRun: true } as const;
  const newer = await overtaken(context, ordered);
  if (newer) return replyFor(newer);
  await remember(context, ordered);
  await fireChain(context, 'fire', chain, inputs);
  return replyFor({ kind: 'fired', chain });
}

/** Stores a question. Its answer takes a model or a program, so it follows in a comment of its own. */
async function ask(question: string, { deps, tx, event }: CommandContext): Promise<Reply> {
  const { via, repository } = event;
  if (via.kind !== 'comment' || (await tx.skillCalls.ofComment(via.comment_id)))
    return replyFor({ kind: 'asked_already' });
  const id = deps.ids.next('ask');
  await tx.skillCalls.insert({
    id,
    installationId: event.installation_id,
    repositoryId: repository.id,
    repository: `${repository.owner}/${repository.name}`,
    pullRequest: event.pull_request,
    commentId: via.comment_id,
    askedBy: event.actor,
    question,
    decision: null,
    createdAt: deps.clock.now(),
    finishedAt: null,
  });
  return { ok: true, text: '', later: id };
}
