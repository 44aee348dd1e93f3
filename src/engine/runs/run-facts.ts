import type { Chain } from '../../domain/chain/chain.ts';
import { sourcesOfChains } from '../../domain/chain/chain-list.ts';
import type { TriggerFactsOf } from '../../domain/chain/trigger-members.ts';
import type { RepositoryEvent } from '../../domain/event/event.ts';
import type { PullRequestNow } from '../../domain/run/plan.ts';
import type { RunFacts } from '../../domain/run/run.ts';
import type { PullRequest, PullRequestFile } from '../../ports/github.ts';
import type { Configuration } from '../configuration/configuration.ts';

/** A renamed file counts with both names. If GitHub's list is truncated, a missing file could be any. */
export function pullRequestNow(
  pullRequest: PullRequest,
  { files, truncated }: { files: readonly PullRequestFile[]; truncated: boolean },
): PullRequestNow {
  const paths = files.flatMap(({ path, previousPath }) =>
    previousPath === undefined ? [path] : [path, previousPath],
  );
  return {
    ...pullRequest,
    author: pullRequest.author.login,
    changedPaths: truncated ? undefined : paths,
  };
}

/** What expressions know of the repository. */
export function repositoryFacts(
  event: Pick<RepositoryEvent, 'repository'>,
  defaultBranch: string,
): RunFacts['repo'] {
  const { owner, name } = event.repository;
  return { full_name: `${owner}/${name}`, owner, name, default_branch: defaultBranch };
}

/**
 * What a run of the chain stores of its configuration: the governing branch, if its base does not govern, where the chain is
 * defined, who hears of its steps, and how far Countersign is rolled out.
 */
export function governedBy(
  { branch, insteadOf, chains, read, rollout: { level } }: Configuration,
  chain: Chain,
): Pick<RunFacts, 'governed' | 'defined' | 'heard' | 'rollout'> {
  const defined = definedIn(read.chains, chain);
  return {
    ...(insteadOf && { governed: { branch, because: insteadOf.because } }),
    ...(defined && { defined }),
    ...(sourcesOfChains(chains).has('invocation.completed') && { heard: true }),
    ...(level !== 'enforce' && { rollout: level }),
  };
}

const SCOPES_OF_FILES = ['repository', 'organisation', 'shipped'] as const;

/** What is in no file is stored. There can be thousands of stored chains, so they are not searched. */
function definedIn(all: Configuration['read']['chains'], chain: Chain): RunFacts['defined'] {
  for (const scope of SCOPES_OF_FILES) {
    const found = all[scope].find((parsed) => parsed.chain === chain);
    if (found) return { scope, file: found.file };
  }
  return all.stored.length > 0 ? { scope: 'stored' } : undefined;
}

/** What expressions know of the repository, and of the event as the trigger. */
export function runFactsOf(
  event: RepositoryEvent,
  pullRequest: PullRequest,
  repo: RunFacts['repo'],
  paths?: readonly string[],
): RunFacts {
  const trigger: TriggerFactsOf<'pr.merged'> & { paths?: string[] } = {
    kind: event.kind === 'manual.fired' ? 'manual' : 'event',
    event: event.kind,
    actor: 'actor' in event ? event.actor : pullRequest.author.login,
    pr_number: pullRequest.number,
    title: pullRequest.title,
    author: pullRequest.author.login,
    association: pullRequest.authorAssociation,
    head_sha: pullRequest.headSha,
    head: pullRequest.headRef,
    base: pullRequest.baseRef,
    draft: pullRequest.draft,
    labels: pullRequest.labels,
    ...(paths && { paths: [...paths] }),
  };
  return { repo, trigger };
}

/** The branch of the pull request, unless it is one of a fork. */
export function branchHere({
  repositoryId,
  headRepositoryId,
  headRef,
}: PullRequest): { repositoryId: number; branch: string } | undefined {
  return headRepositoryId === repositoryId ? { repositoryId, branch: headRef } : undefined;
}
