import { type Answer, said } from './answer.ts';
import type { CommandContext } from './context.ts';

/** Notes a question. Its answer takes a model, or a program, and comes in a comment of its own when it is there. */
export async function ask(question: string, { deps, tx, event }: CommandContext): Promise<Answer> {
  const { via, repository } = event;
  if (via.kind === 'button' || (await tx.skillCalls.ofComment(via.comment_id)))
    return said({ kind: 'asked_already' });
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
