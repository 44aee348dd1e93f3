import { questionTag, type Saying, withAnswer } from '../../domain/policy/approval.ts';
import { ineligibleBecause } from '../../domain/policy/merge-gate.ts';
import { type Answer, said } from './answer.ts';
import type { Command } from './command.ts';
import { answerOvertaken, overtaken, remember } from './command-order.ts';
import type { CommandContext } from './context.ts';
import type { Would } from './eligibility.ts';
import { type Asking, askingSteps, type OpenQuestion } from './questions.ts';
import type { CommandResult } from './replies.ts';

/**
 * Records what somebody answers to the open question of a step that merges nothing, and has it looked at. The record lets
 * nothing go on: the gate judges it with everything else, and reads anew whether that person may answer.
 */
export async function confirm(
  command: Extract<Command, { verb: Saying }>,
  context: CommandContext,
): Promise<Answer> {
  const { deps, tx, event, pullRequest, would } = context;
  const found = meant(command.step, event.via, await askingSteps(tx, event, pullRequest));
  if ('kind' in found) return said((await answeredSince(command, context, found)) ?? found);
  const { run, approval, step } = found;
  const { headSha } = approval;
  if (event.via.kind === 'comment' && isBefore(event.via.created_at, approval.askedAt)) {
    return said({ kind: 'asked_later', step });
  }
  if (!would) {
    return said({
      kind: 'may_not_answer',
      step,
      login: event.actor,
      because: 'could not be found on GitHub',
    });
  }
  const because = notAllowedTo(would, found, pullRequest);
  if (because !== undefined) return said({ kind: 'may_not_answer', step, login: event.actor, because });
  const { id, login } = would.person;
  const deed = { kind: 'answer', verb: command.verb, person: id, chain: run.chain, step } as const;
  const newer = await overtaken(context, deed);
  if (newer) return said(newer);
  await remember(context, deed);
  const answers = withAnswer(approval.answers, {
    person: { id, login },
    says: command.verb,
    at: deps.clock.now().toISOString(),
  });
  await tx.approvals.saveAnswers({ id: approval.id, answers });
  await deps.engine.signal(tx, run.id, { kind: 'wake', for: ['approval'] }, { kind: 'person', login });
  return said({ kind: 'answer_noted', says: command.verb, step, head: headSha });
}

/** Where nothing waits any more because of the newer answer of the same person, that is said. */
async function answeredSince(
  { verb, step }: Extract<Command, { verb: Saying }>,
  context: CommandContext,
  found: CommandResult,
): Promise<CommandResult | undefined> {
  const { would, event } = context;
  // Which question a button was about is not known once that is closed.
  if (!would || event.via.kind === 'button' || found.kind === 'merge_by_reaction') return undefined;
  return answerOvertaken(context, { verb, person: would.person.id, step });
}

/**
 * The question that is answered. Whatever could be about a merge, or about one of several questions, is none: a person who
 * means this one can say so, or react to its comment.
 */
function meant(
  step: string | undefined,
  via: CommandContext['event']['via'],
  all: readonly Asking[],
): OpenQuestion | CommandResult {
  if (via.kind === 'button') {
    // The one that the button was made for, and not what came to be open since.
    const shown = all.find(({ question }) => question && questionTag(question.approval) === via.question);
    if (shown?.merges) return { kind: 'merge_by_reaction' };
    return shown?.question ?? { kind: 'nothing_to_answer' };
  }
  const named = step === undefined ? all : all.filter((one) => one.step === step);
  if (step !== undefined) {
    if (named.some(({ merges }) => merges)) return { kind: 'merge_by_reaction' };
    if (named.length === 0)
      return { kind: 'no_such_step', step, steps: [...new Set(all.map((one) => one.step))] };
  }
  const open = named.flatMap(({ merges, question }) => (merges || !question ? [] : [question]));
  const [only, another] = open;
  if (another) return { kind: 'several_wait', steps: [...new Set(open.map((one) => one.step))] };
  if (only) return only;
  return named.some(({ merges, question }) => merges && question)
    ? { kind: 'merge_by_reaction' }
    : { kind: 'nothing_to_answer', step };
}

function notAllowedTo(
  { person, contributors }: Would,
  { run }: OpenQuestion,
  { author }: CommandContext['pullRequest'],
): string | undefined {
  const rules = run.settings.countersign;
  const teams = rules.teams.filter((team) => person.teams.includes(team));
  return ineligibleBecause({ ...person, teams }, rules, { pullRequest: { author }, contributors });
}

/** GitHub tells the second in which a comment was written, and no more. */
function isBefore(written: string, askedAt: Date): boolean {
  return new Date(written).getTime() < Math.floor(askedAt.getTime() / 1_000) * 1_000;
}
