import type { EventOf } from '../../domain/event/event.ts';
import { teamsNamed } from '../../domain/policy/countersign-rules.ts';
import type { Answerer, MergeFacts } from '../../domain/policy/merge-gate.ts';
import { teamsOf } from '../../engine/approvals/answerers.ts';
import { readContributors } from '../../engine/approvals/contributors.ts';
import type { GitHubReader, PullRequest } from '../../ports/github.ts';
import type { Storage } from '../../ports/storage.ts';
import { type ActiveStep, answerRules } from './active-steps.ts';

/**
 * Somebody who answers, with the facts that decide whether they may. The teams are those that any open
 * approval names.
 */
export interface Respondent {
  person: Answerer;
  contributors: MergeFacts['contributors'];
}

/**
 * Reads the author of the command, so that the reply can say at once why they may not answer.
 * @returns `undefined` if GitHub has no such user
 */
export async function readRespondent(
  { read }: Pick<Storage, 'read'>,
  reader: GitHubReader,
  { repository, actor }: EventOf<'command.issued'>,
  pullRequest: PullRequest,
  steps: readonly ActiveStep[],
  teamsToo: readonly string[] = [],
): Promise<Respondent | undefined> {
  const wanted = new Set([
    ...teamsToo,
    ...steps.flatMap(({ openApproval }) => (openApproval ? teamsNamed(answerRules(openApproval)) : [])),
  ]);
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
