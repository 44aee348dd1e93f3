import type { CommandContext } from './context.ts';
import { type Reply, replyFor } from './reply.ts';

/** Stores a question. Its answer takes a model or a program, so it follows in a comment of its own. */
export async function ask(question: string, { deps, tx, event }: CommandContext): Promise<Reply> {
  const { via, repository } = event;
  if (via.kind === 'button' || (await tx.skillCalls.ofComment(via.comment_id)))
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
