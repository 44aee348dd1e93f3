import type { EventOf } from '../../domain/event/event.ts';
import type { Answerer, MergeFacts } from '../../domain/policy/merge-gate.ts';
import { teamsOf } from '../../engine/approvals/answerers.ts';
import { readContributors } from '../../engine/approvals/contributors.ts';
import type { GitHubReader, PullRequest } from '../../ports/github.ts';
import type { Storage } from '../../ports/storage.ts';
import type { Asking } from './questions.ts';

/** Somebody who would answer, with all that decides whether they may; the teams are those of any question that is open. */
export interface Would {
  person: Answerer;
  contributors: MergeFacts['contributors'];
}

/**
 * Reads who gave the command, so that they are told at once why they may not answer.
 * @returns `undefined` when GitHub knows nobody by that login.
 */
export async function readWouldAnswer(
  { read }: Pick<Storage, 'read'>,
  reader: GitHubReader,
  { repository, actor }: EventOf<'command.issued'>,
  pullRequest: PullRequest,
  steps: readonly Asking[],
): Promise<Would | undefined> {
  const wanted = new Set(steps.flatMap(({ question }) => question?.run.settings.countersign.teams ?? []));
  const [found, teams, contributors] = await Promise.all([
    reader.collaborator(repository, actor),
    teamsOf(reader, actor, [...wanted]),
    readContributors(
      { reader, repo: repository, pushesTold: (ids, shas) => read.pushes.of(ids, shas) },
      pullRequest,
      pullRequest.headSha,
    ),
  ]);
  return (
    found && {
      person: { ...found.person, role: found.role, teams },
      contributors,
    }
  );
}
