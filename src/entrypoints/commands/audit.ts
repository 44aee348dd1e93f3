import { AUDITED_VERBS, type AuditedVerb } from '../../domain/audit/entry.ts';
import type { Command } from './command.ts';
import type { CommandContext } from './context.ts';

/**
 * Records an executed command that changes something. Refused commands are not recorded: anybody can write a
 * comment and the log is never pruned, so an untrusted user could fill it.
 */
export async function auditCommand(
  command: Command,
  { tx, event, pullRequest }: CommandContext,
): Promise<void> {
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
    via: via.kind === 'comment' ? { kind: 'comment', comment_id: via.comment_id } : { kind: 'button' },
    ...('step' in command && command.step !== undefined ? { step: command.step } : {}),
    ...(command.verb === 'fire' ? { chain: command.chain, inputs: command.inputs } : {}),
  });
}

function auditedVerb({ verb }: Command): AuditedVerb | undefined {
  return AUDITED_VERBS.find((audited) => audited === verb);
}
