import { broughtBy } from '../../domain/event/event.ts';
import {
  belongsByAssociation,
  type Membership,
  type Origin,
  type TrustContext,
} from '../../domain/policy/trust.ts';
import type { Run, RunFacts } from '../../domain/run/run.ts';
import type { GitHubReader, Repo } from '../../ports/github.ts';
import { isOnBranch } from './branch-history.ts';

/** The part of a run that determines its trust. */
export type TrustSubject = Pick<Run, 'repository' | 'pullRequest' | 'headSha' | 'event'> & {
  baseRef?: string;
  facts?: Pick<RunFacts, 'broughtBy'>;
};

/** Each costs a request, and more people take part in no trigger that means well. */
const MAX_PEOPLE = 10;

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
  const { repository, headSha, event, facts } = subject;
  const membership = async (login: string): Promise<Membership> => ({
    login,
    role: await reader.role(repo, login),
  });
  const [origin, dispatcher, people] = await Promise.all([
    readOrigin(),
    event.kind === 'manual.fired' ? membership(event.actor) : undefined,
    Promise.all(peopleBehind().map((login) => (login === null ? null : membership(login)))),
  ]);
  return {
    repository,
    headSha,
    origin,
    dispatcher,
    ...(people.length > 0 && { broughtBy: people }),
    countersign: undefined,
  };

  /** Those that the origin does not name. */
  function peopleBehind(): (string | null)[] {
    const own = event.kind === 'pr.review_submitted' || event.kind === 'invocation.completed';
    const all = [
      ...new Set([...(own ? broughtBy(event, subject.pullRequest) : []), ...(facts?.broughtBy ?? [])]),
    ];
    return all.length > MAX_PEOPLE ? [...all.slice(0, MAX_PEOPLE), null] : all;
  }

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
