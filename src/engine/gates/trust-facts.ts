import {
  belongsByAssociation,
  type Membership,
  type Origin,
  type TrustContext,
} from '../../domain/policy/trust.ts';
import type { Run } from '../../domain/run/run.ts';
import type { GitHubReader, Repo } from '../../ports/github.ts';
import { isOnBranch } from './branch-history.ts';

/** The part of a run that determines its trust. */
export type TrustSubject = Pick<Run, 'repository' | 'pullRequest' | 'headSha' | 'event'> & {
  baseRef?: string;
};

/**
 * Reads the facts for a run's trust now, because facts from the start of the run may be outdated. A
 * countersign is not among them: only the merge gate's poll of the step's own approval determines whether
 * there is one.
 * @throws GitHubError if GitHub cannot be asked; the caller then does nothing and retries
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
  const [origin, dispatcher, reviewer] = await Promise.all([
    readOrigin(),
    event.kind === 'manual.fired' ? membership(event.actor) : undefined,
    'reviewer' in event && event.reviewer !== undefined ? membership(event.reviewer) : undefined,
  ]);
  return {
    repository,
    headSha,
    origin,
    dispatcher,
    ...(reviewer && { reviewer }),
    countersign: undefined,
  };

  async function readOrigin(): Promise<Origin | undefined> {
    if (subject.pullRequest !== null) return ofPullRequest(subject.pullRequest);
    switch (event.kind) {
      case 'issue.created':
      case 'issue.labeled':
        return { kind: 'issue', author: await membership(event.author) };
      case 'file.changed':
        return { kind: 'push', author: await membership(event.pusher) };
      case 'release.published':
        return { kind: 'release', author: await membership(event.author) };
      case 'manual.fired':
        return event.ref === undefined
          ? { kind: 'branch', branch: subject.baseRef ?? 'default' }
          : { kind: 'other_branch', branch: event.ref };
      case 'schedule.fired':
        return { kind: 'branch', branch: subject.baseRef ?? 'default' };
      case 'ci.changed': {
        // A commit of another branch can come from anybody who may push, and one without a branch from a fork.
        const { branch, default_branch: byDefault } = event.ended ?? {};
        if (branch === undefined || branch !== byDefault) return undefined;
        return (await isOnBranch(reader, repo, branch, headSha)) ? { kind: 'branch', branch } : undefined;
      }
      default:
        return undefined;
    }
  }

  async function ofPullRequest(number: number): Promise<Origin> {
    const { author, authorAssociation, headRepository, headSha } = await reader.pullRequest(repo, number);
    // If the association decides it, no request is needed.
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
