import { type AppliedCommand, answerOvertakenBy, type OrderedCommand } from '../../domain/command/order.ts';
import { newerCommand, rememberCommand } from '../../engine/runs/applied-commands.ts';
import type { CommandContext } from './context.ts';
import type { CommandResult } from './replies.ts';

type Overtaken = Extract<CommandResult, { kind: 'overtaken' }>;

/** The result for a command that arrives too late: people gave a newer one that it would undo. */
export async function overtaken(
  context: CommandContext,
  ordered: OrderedCommand,
): Promise<Overtaken | undefined> {
  return resultOf(
    await newerCommand(context.tx, pullRequestIn(context), ordered, context.given(ordered.verb)),
  );
}

/**
 * The same for an answer if no approval comment is open.
 * @param person their id on GitHub
 */
export async function answerOvertaken(
  context: CommandContext,
  answer: { verb: 'approve' | 'reject'; person: number; step: string | undefined },
): Promise<Overtaken | undefined> {
  const { repositoryId, pullRequest } = pullRequestIn(context);
  const applied = await context.tx.appliedCommands.of(repositoryId, pullRequest);
  return resultOf(answerOvertakenBy(answer, context.given(answer.verb), applied));
}

/** Stores the command, so that older commands that arrive later are refused. */
export function remember(context: CommandContext, ordered: OrderedCommand): Promise<void> {
  const by = { actor: context.event.actor, given: context.given(ordered.verb) };
  return rememberCommand(context.tx, pullRequestIn(context), ordered, by);
}

function pullRequestIn({ event }: CommandContext): { repositoryId: number; pullRequest: number } {
  return { repositoryId: event.repository.id, pullRequest: event.pull_request };
}

function resultOf(newer: AppliedCommand | undefined): Overtaken | undefined {
  return newer && { kind: 'overtaken', verb: newer.verb, actor: newer.actor };
}
