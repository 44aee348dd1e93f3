import { questionTag, type Saying, withAnswer } from '../../domain/policy/approval.ts';
import { teamsNamed } from '../../domain/policy/countersign-rules.ts';
import { ineligibleBecause } from '../../domain/policy/merge-gate.ts';
import { type ActiveStep, activeSteps, answerRules, type OpenApproval } from './active-steps.ts';
import type { Command } from './command.ts';
import { answerOvertaken, overtaken, remember } from './command-order.ts';
import type { CommandContext } from './context.ts';
import type { Respondent } from './eligibility.ts';
import type { CommandResult } from './replies.ts';
import { type Reply, replyFor } from './reply.ts';

/**
 * Records the answer to the open approval comment of a step that merges nothing, and wakes the step. The
 * record decides nothing: the gate judges it with all other facts and reads again whether that person may
 * answer.
 */
export async function confirm(
  command: Extract<Command, { verb: Saying }>,
  context: CommandContext,
): Promise<Reply> {
  const { deps, tx, event, pullRequest, respondent } = context;
  const found = approvalFor(command.step, event.via, await activeSteps(tx, event, pullRequest));
  if ('kind' in found) return replyFor((await newerAnswer(command, context, found)) ?? found);
  const { run, approval, step } = found;
  const { headSha } = approval;
  if (event.via.kind === 'comment' && isBefore(event.via.created_at, approval.askedAt)) {
    return replyFor({ kind: 'asked_later', step });
  }
  if (!respondent) {
    return replyFor({
      kind: 'may_not_answer',
      step,
      login: event.actor,
      because: 'could not be found on GitHub',
    });
  }
  const because = ineligibility(command.verb, respondent, found, pullRequest);
  if (because !== undefined) return replyFor({ kind: 'may_not_answer', step, login: event.actor, because });
  const { id, login } = respondent.person;
  const ordered = { kind: 'answer', verb: command.verb, person: id, chain: run.chain, step } as const;
  const newer = await overtaken(context, ordered);
  if (newer) return replyFor(newer);
  await remember(context, ordered);
  const answers = withAnswer(approval.answers, {
    person: { id, login },
    says: command.verb,
    at: deps.clock.now().toISOString(),
  });
  await tx.approvals.saveAnswers({ id: approval.id, answers });
  await deps.engine.signal(tx, run.id, { kind: 'wake', for: ['approval'] }, { kind: 'person', login });
  return replyFor({ kind: 'answer_noted', says: command.verb, step, head: headSha });
}

/** If no step waits any more because of a newer answer of the same person, says so. */
async function newerAnswer(
  { verb, step }: Extract<Command, { verb: Saying }>,
  context: CommandContext,
  found: CommandResult,
): Promise<CommandResult | undefined> {
  const { respondent, event } = context;
  // A closed approval comment no longer says which button belongs to it.
  if (!respondent || event.via.kind === 'button' || found.kind === 'merge_by_reaction') return undefined;
  return answerOvertaken(context, { verb, person: respondent.person.id, step });
}

/**
 * The approval that the command answers. If the answer could also be for a merge, or for one of several
 * approvals, it counts for none: the person can name the step or react to its comment.
 */
function approvalFor(
  step: string | undefined,
  via: CommandContext['event']['via'],
  all: readonly ActiveStep[],
): OpenApproval | CommandResult {
  if (via.kind === 'button') {
    // A button belongs to one approval comment, not to one that was opened later.
    const shown = all.find(
      ({ openApproval }) => openApproval && questionTag(openApproval.approval) === via.question,
    );
    if (shown?.merges) return { kind: 'merge_by_reaction' };
    return shown?.openApproval ?? { kind: 'nothing_to_answer' };
  }
  const named = step === undefined ? all : all.filter((one) => one.step === step);
  if (step !== undefined) {
    if (named.some(({ merges }) => merges)) return { kind: 'merge_by_reaction' };
    if (named.length === 0)
      return { kind: 'no_such_step', step, steps: [...new Set(all.map((one) => one.step))] };
  }
  const open = named.flatMap(({ merges, openApproval }) => (merges || !openApproval ? [] : [openApproval]));
  const [only, another] = open;
  if (another) return { kind: 'several_wait', steps: [...new Set(open.map((one) => one.step))] };
  if (only) return only;
  return named.some(({ merges, openApproval }) => merges && openApproval)
    ? { kind: 'merge_by_reaction' }
    : { kind: 'nothing_to_answer', step };
}

function ineligibility(
  verb: Saying,
  { person, contributors }: Respondent,
  { run, step }: OpenApproval,
  { author }: CommandContext['pullRequest'],
): string | undefined {
  // A step that asks for particular people takes nobody's rejection away.
  const rules = verb === 'reject' ? run.settings.countersign : answerRules({ run, step });
  const teams = teamsNamed(rules).filter((team) => person.teams.includes(team));
  return ineligibleBecause({ ...person, teams }, rules, { pullRequest: { author }, contributors });
}

/** GitHub reports a comment's time only in full seconds. */
function isBefore(written: string, askedAt: Date): boolean {
  return new Date(written).getTime() < Math.floor(askedAt.getTime() / 1_000) * 1_000;
}
