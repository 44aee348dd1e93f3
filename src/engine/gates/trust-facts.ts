import {
  belongsByAssociation,
  type Membership,
  type Origin,
  type TrustContext,
} from '../../domain/policy/trust.ts';
import type { Run } from '../../domain/run/run.ts';
import type { GitHubReader, Repo } from '../../ports/github.ts';

/** What of a run is needed to read what its trust rests on. */
export type TrustSubject = Pick<Run, 'repository' | 'pullRequest' | 'headSha' | 'event'>;

/**
 * Reads what a run's trust rests on, fresh: nothing that was true when the run began is believed now. A countersign is not
 * among it: only the merge gate's look at the step's own question says whether there is one.
 * @throws GitHubError when GitHub cannot be asked; whoever asks then does nothing, and tries again.
 */
export async function readTrustContext(
  reader: GitHubReader,
  repo: Repo,
  subject: TrustSubject,
): Promise<TrustContext> {
  const { repository, headSha, event } = subject;
  const membership = async (login: string): Promise<Membership> => ({
    login,
    role: await reader.role(repo, login),
  });
  const [origin, dispatcher] = await Promise.all([
    readOrigin(),
    event.kind === 'manual.fired' ? membership(event.actor) : undefined,
  ]);
  return { repository, headSha, origin, dispatcher, countersign: undefined };

  async function readOrigin(): Promise<Origin | undefined> {
    if (subject.pullRequest !== null) return ofPullRequest(subject.pullRequest);
    if (event.kind === 'issue.created') return { kind: 'issue', author: await membership(event.author) };
    if (event.kind === 'file.changed') return { kind: 'push', author: await membership(event.pusher) };
    return undefined;
  }

  async function ofPullRequest(number: number): Promise<Origin> {
    const { author, authorAssociation, headRepository, headSha } = await reader.pullRequest(repo, number);
    // Where the association says it, nobody need be asked.
    const role = belongsByAssociation(authorAssociation) ? undefined : await reader.role(repo, author.login);
    return {
      kind: 'pull_request',
      headRepository,
      headSha,
      author: {
        login: author.login,
        role,
        association: authorAssociation,
        isPerson: author.type === 'User',
      },
    };
  }
}
