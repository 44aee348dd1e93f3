import { basename } from 'node:path';
import { formatDiagnostic } from '../../core/diagnostic.ts';
import { unreachable } from '../../core/errors.ts';
import { merges } from '../../domain/chain/chain.ts';
import { reason } from '../../domain/explanation/reason.ts';
import { explain, explainText } from '../../domain/run/explain.ts';
import { type Invocation, isStepOver, type Run, type RunState } from '../../domain/run/run.ts';
import type { Signal } from '../../domain/run/transition.ts';
import { codeBlock } from '../../messages/markdown.ts';
import { statusComment } from '../../messages/status-comment.ts';
import { type Answer, said, saidWith, told } from './answer.ts';
import { ask } from './ask.ts';
import type { Command } from './command.ts';
import { overtaken, remember } from './command-order.ts';
import { confirm } from './confirm.ts';
import type { CommandContext } from './context.ts';
import { helpText } from './help.ts';
import type { CommandResult } from './replies.ts';
import { beginAgain, fireChain, isRestarted } from './restart.ts';

/** Does what an allowed command asks for, in the transaction of its answer. */
export async function executeCommand(command: Command, context: CommandContext): Promise<Answer> {
  const { pullRequest, moved } = context;
  switch (command.verb) {
    case 'help':
      return told(helpText());
    case 'status':
      return status(context);
    case 'why':
      return whyNot(context);
    default:
      break;
  }
  if (pullRequest.state === 'closed') return said({ kind: 'closed' });
  if (moved) return said({ kind: 'head_moved', ...moved });
  switch (command.verb) {
    case 'rerun':
      return rerun(context, command.step);
    case 'review':
      return again(context, 'review', 'pr-review', { kind: 'review_started', head: pullRequest.headSha });
    case 'ci':
      return again(context, 'ci', 'ci', { kind: 'ci_read_again' });
    case 'approve':
    case 'reject':
      return confirm(command, context);
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

/** The newest run of each chain of the pull request, the newest first. */
async function newestRuns({ tx, event }: CommandContext): Promise<RunState[]> {
  const runs = await tx.runs.current({
    repositoryId: event.repository.id,
    pullRequest: event.pull_request,
  });
  const seen = new Set<string>();
  const states: RunState[] = [];
  for (const run of runs) {
    if (seen.has(run.chain)) continue;
    seen.add(run.chain);
    const state = await tx.runs.load(run.id);
    if (state) states.push(state);
  }
  return states;
}

/** On the account of whoever gave the command. */
async function signal({ deps, tx, event }: CommandContext, run: Run, what: Signal): Promise<void> {
  await deps.engine.signal(tx, run.id, what, { kind: 'person', login: event.actor });
}

async function approvalOf({ tx }: CommandContext, run: Run) {
  return (await tx.approvals.ofRun(run.id)).at(-1) ?? null;
}

async function status(context: CommandContext): Promise<Answer> {
  const states = await newestRuns(context);
  if (states.length === 0) return withoutRun(context);
  const views = [];
  for (const state of states) {
    views.push({ state, approval: await approvalOf(context, state.run), checkRunUrl: null });
  }
  // Without its first line, the marker: only one comment is the sticky one.
  const cards = statusComment(views).split('\n').slice(1).join('\n');
  return told([...noRunNow(context), cards].join('\n\n'));
}

async function whyNot(context: CommandContext): Promise<Answer> {
  const states = await newestRuns(context);
  if (states.length === 0) return withoutRun(context);
  const texts = noRunNow(context);
  for (const state of states) {
    texts.push(codeBlock(explainText(explain(state, await approvalOf(context, state.run)))));
  }
  return told(texts.join('\n\n'));
}

/** What comes before the runs when they are all about what the pull request was before. */
function noRunNow({ noRun }: CommandContext): string[] {
  return noRun ? [codeBlock(explainText(noRun))] : [];
}

function withoutRun(context: CommandContext): Answer {
  const [text] = noRunNow(context);
  return text === undefined ? said({ kind: 'no_run' }) : told(text);
}

async function rerun(context: CommandContext, step: string | undefined): Promise<Answer> {
  const { states, notForDrafts, none } = await runsOfHead(context);
  if (states.length === 0) return none;
  const wanted = (state: RunState) =>
    step === undefined ? firstUnmet(state) : state.invocations.find((one) => one.stepId === step);
  const restarted: string[] = [];
  const refusals: CommandResult[] = [];
  for (const state of states) {
    const { chain } = state.run;
    const anew = isRestarted(state.run);
    if (!anew && !wanted(state)) continue;
    const deed = { kind: 'begin', verb: 'rerun', chain, anew } as const;
    const refusal =
      (await overtaken(context, deed)) ?? (anew ? await beginAgain(context, 'rerun', state.run) : undefined);
    if (refusal) {
      refusals.push(refusal);
      continue;
    }
    await remember(context, deed);
    restarted.push(
      ...(anew
        ? state.invocations.map((invocation) => invocation.stepId)
        : await restart(context, state, wanted)),
    );
  }
  if (restarted.length > 0) {
    return saidWith({ kind: 'rerun_started', steps: [...new Set(restarted)] }, refusals);
  }
  if (refusals[0]) return said(refusals[0]);
  if (notForDrafts.some(wanted)) return said({ kind: 'draft' });
  if (step === undefined) return said({ kind: 'nothing_to_rerun' });
  const steps = states.flatMap((state) => state.invocations.map((invocation) => invocation.stepId));
  return said({ kind: 'no_such_step', step, steps });
}

/**
 * The runs of this head that a command can begin again, and what to say when there is none. One whose chain is not for the pull
 * request any more is begun again by its trigger: what a command began for a draft would be cancelled by the next event.
 */
async function runsOfHead(
  context: CommandContext,
): Promise<{ states: RunState[]; notForDrafts: RunState[]; none: Answer }> {
  const { headSha, draft } = context.pullRequest;
  const ofHead = (await newestRuns(context)).filter(({ run }) => run.headSha === headSha);
  const waitsForReady = ({ run: { event, definition } }: RunState) => {
    const { event: opened, filter } = definition.trigger;
    const isTold = opened === 'pr.opened' || opened === 'pr.updated';
    return draft && isTold && event.kind !== 'manual.fired' && filter.draft === false;
  };
  const states = ofHead.filter((state) => {
    const code = state.run.reason?.code;
    const isMeant = code !== 'run.cancelled.not_triggered' && code !== 'run.cancelled.draft';
    return isMeant && !waitsForReady(state);
  });
  const notForDrafts = ofHead.filter(waitsForReady);
  return { states, notForDrafts, none: said({ kind: notForDrafts.length > 0 ? 'draft' : 'no_run' }) };
}

/** Runs the wanted steps of a run again, each once; those that follow such a step are begun again with it. */
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

/** The first step that failed, or whose outcome was no yes. */
function firstUnmet(state: RunState): Invocation | undefined {
  return state.invocations.find(
    (step) =>
      step.status === 'failed' ||
      step.status === 'timed_out' ||
      (step.status === 'completed' && step.outcome?.passed !== true),
  );
}

/** Runs every step that uses the skill again, or lets it look again when it is waiting. */
async function again(
  context: CommandContext,
  verb: 'review' | 'ci',
  skill: string,
  result: CommandResult,
): Promise<Answer> {
  const { states, none } = await runsOfHead(context);
  let found = false;
  const refusals: CommandResult[] = [];
  for (const state of states) {
    const { run } = state;
    const uses = state.invocations.filter(
      ({ stepIndex }) => run.definition.steps[stepIndex]?.uses.name === skill,
    );
    const step = uses.find(({ status }) => status !== 'pending');
    if (!step) {
      if (uses[0]) refusals.push({ kind: 'step_not_begun', step: uses[0].stepId });
      continue;
    }
    const anew = isRestarted(run);
    const deed = { kind: 'begin', verb, chain: run.chain, anew } as const;
    const refusal =
      (await overtaken(context, deed)) ?? (anew ? await beginAgain(context, verb, run) : undefined);
    if (refusal) {
      refusals.push(refusal);
      continue;
    }
    await remember(context, deed);
    if (!anew) {
      const { stepIndex, status } = step;
      const what: Signal = isStepOver(status)
        ? { kind: 'rerun', stepIndex }
        : { kind: 'wake', for: ['ci', 'until'] };
      await signal(context, run, what);
    }
    found = true;
  }
  if (found) {
    // That the same skill comes later in another chain is no news to who asked for it here.
    return saidWith(
      result,
      refusals.filter(({ kind }) => kind !== 'step_not_begun'),
    );
  }
  if (refusals[0]) return said(refusals[0]);
  return states.length > 0 ? said({ kind: 'skill_not_used', skill }) : none;
}

async function cancel(context: CommandContext): Promise<Answer> {
  const { actor } = context.event;
  const { running, newer } = await notBegunSince(context);
  await remember(context, { kind: 'stop', verb: 'cancel', chain: null });
  if (running.length === 0 && newer) return said(newer);
  for (const run of running) {
    await signal(context, run, {
      kind: 'end',
      status: 'cancelled',
      reason: reason('run.cancelled.by_person', `cancelled by ${actor}`, [
        { kind: 'person', id: actor, label: actor },
      ]),
    });
  }
  return said(
    running.length === 0 ? { kind: 'nothing_to_cancel' } : { kind: 'cancelled', runs: running.length },
  );
}

/** The runs under way, but for those of chains that somebody had begin again after the command was given. */
async function notBegunSince(
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

async function pause(context: CommandContext): Promise<Answer> {
  const newer = await takeHold(context, 'pause');
  if (newer) return said(newer);
  const { tx, event } = context;
  const row = await tx.pullRequests.get(event.repository.id, event.pull_request);
  if (row?.pausedBy) return said({ kind: 'already_paused', by: row.pausedBy });
  await setPaused(context, event.actor);
  return said({ kind: 'paused' });
}

async function resume(context: CommandContext): Promise<Answer> {
  const newer = await takeHold(context, 'resume');
  if (newer) return said(newer);
  const { tx, event } = context;
  const row = await tx.pullRequests.get(event.repository.id, event.pull_request);
  if (!row?.pausedBy) return said({ kind: 'not_paused' });
  await setPaused(context, null);
  return said({ kind: 'resumed' });
}

/** Counts also where nothing changes: an older command that comes later must not win against it. */
async function takeHold(
  context: CommandContext,
  verb: 'pause' | 'resume',
): Promise<CommandResult | undefined> {
  const deed = { kind: 'hold', verb } as const;
  const newer = await overtaken(context, deed);
  if (!newer) await remember(context, deed);
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

async function fire(context: CommandContext, chain: string, inputs: Record<string, string>): Promise<Answer> {
  const { chains = [], broken = [] } = context.configuration ?? {};
  const found = chains.find(({ name }) => name === chain);
  if (!found) {
    const [diagnostic] =
      broken.find(({ file }) => basename(file).replace(/\.ya?ml$/, '') === chain)?.diagnostics ?? [];
    if (diagnostic) return said({ kind: 'broken_chain', chain, diagnostic: formatDiagnostic(diagnostic) });
    return said({ kind: 'no_such_chain', chain, chains: chains.map(({ name }) => name) });
  }
  // Its question would be void as soon as anything happens to the pull request.
  if (context.pullRequest.draft && merges(found)) {
    return said({ kind: 'merges_no_draft', chain });
  }
  const deed = { kind: 'begin', verb: 'fire', chain, anew: true } as const;
  const newer = await overtaken(context, deed);
  if (newer) return said(newer);
  await remember(context, deed);
  await fireChain(context, 'fire', chain, inputs);
  return said({ kind: 'fired', chain });
}
