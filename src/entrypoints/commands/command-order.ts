import { type AppliedCommand, answerOvertakenBy, type OrderedCommand } from '../../domain/command/order.ts';
import { newerCommand, rememberCommand } from '../../engine/runs/applied-commands.ts';
import type { CommandContext } from './context.ts';
import type { CommandResult } from './replies.ts';

type Overtaken = Extract<CommandResult, { kind: 'overtaken' }>;

/** What is said to a command that comes too late: people gave a newer one that it would undo. */
export async function overtaken(
  context: CommandContext,
  deed: OrderedCommand,
): Promise<Overtaken | undefined> {
  return resultOf(await newerCommand(context.tx, placeOf(context), deed, context.given(deed.verb)));
}

/** The same for an answer where no question is open. @param person by number on GitHub */
export async function answerOvertaken(
  context: CommandContext,
  answer: { verb: 'approve' | 'reject'; person: number; step: string | undefined },
): Promise<Overtaken | undefined> {
  const { repositoryId, pullRequest } = placeOf(context);
  const applied = await context.tx.appliedCommands.of(repositoryId, pullRequest);
  return resultOf(answerOvertakenBy(answer, context.given(answer.verb), applied));
}

/** Lets the command count against older ones that are still to come. */
export function remember(context: CommandContext, deed: OrderedCommand): Promise<void> {
  const by = { actor: context.event.actor, given: context.given(deed.verb) };
  return rememberCommand(context.tx, placeOf(context), deed, by);
}

function placeOf({ event }: CommandContext): { repositoryId: number; pullRequest: number } {
  return { repositoryId: event.repository.id, pullRequest: event.pull_request };
}

function resultOf(newer: AppliedCommand | undefined): Overtaken | undefined {
  return newer && { kind: 'overtaken', verb: newer.verb, actor: newer.actor };
}
