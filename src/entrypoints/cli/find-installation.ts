import { CountersignError } from '../../core/errors.ts';
import type { RepositoryRef } from '../../domain/event/event.ts';
import { repoOf } from '../../domain/run/run.ts';
import { unknownRepository, withoutInstallation } from '../../messages/cli/cli.ts';
import { GitHubError } from '../../ports/github.ts';
import type { ReadTx } from '../../ports/storage.ts';
import type { Context } from './context.ts';

/**
 * The App's installation for a repository: from past runs and pull requests, or else from GitHub.
 * @throws CountersignError `cli.unknown_repository` if neither knows one
 */
export async function findInstallation(
  { tools }: Context,
  read: ReadTx,
  repository: string,
  pullRequest?: number,
): Promise<{ installationId: number; repository: RepositoryRef }> {
  const [owner = '', name = ''] = repository.split('/');
  const [newest] = await read.runs.list({ repository, limit: 1 });
  if (!newest) {
    const seen = await read.pullRequests.ofRepository(repository);
    if (seen)
      return { installationId: seen.installationId, repository: { id: seen.repositoryId, owner, name } };
    return onGitHub(tools, read, { owner, name });
  }
  // The pull request's row is newer than the run. Removing and reinstalling the App changes the id.
  const row =
    pullRequest === undefined ? undefined : await read.pullRequests.get(newest.repositoryId, pullRequest);
  return {
    installationId: row?.installationId ?? newest.installationId,
    repository: { id: newest.repositoryId, ...repoOf(newest) },
  };
}

async function onGitHub(
  tools: Context['tools'],
  read: ReadTx,
  repo: { owner: string; name: string },
): Promise<{ installationId: number; repository: RepositoryRef }> {
  const unknown = (message: string) => new CountersignError('cli.unknown_repository', message);
  const full = `${repo.owner}/${repo.name}`;
  try {
    const { github } = await tools.policy(read);
    const installationId = await github.app.installationOf(repo);
    const { id } = await github.reader(installationId, 'person').repository(repo);
    return { installationId, repository: { id, ...repo } };
  } catch (error) {
    if (error instanceof GitHubError && error.kind === 'not_found') throw unknown(withoutInstallation(full));
    if (error instanceof CountersignError || error instanceof GitHubError)
      throw unknown(unknownRepository(full, error.message));
    throw error;
  }
}
