import { CountersignError } from '../../core/errors.ts';
import type { RepositoryRef } from '../../domain/event/event.ts';
import { repoOf } from '../../domain/run/run.ts';
import { unknownRepository } from '../../messages/cli/cli.ts';
import type { ReadTx } from '../../ports/storage.ts';

/**
 * The App's installation for a repository, from past runs.
 * @throws CountersignError `cli.unknown_repository` if the repository has no runs
 */
export async function findInstallation(
  read: ReadTx,
  repository: string,
  pullRequest?: number,
): Promise<{ installationId: number; repository: RepositoryRef }> {
  const [newest] = await read.runs.list({ repository, limit: 1 });
  if (!newest) throw new CountersignError('cli.unknown_repository', unknownRepository(repository));
  // The pull request's row is newer than the run. Removing and reinstalling the App changes the id.
  const row =
    pullRequest === undefined ? undefined : await read.pullRequests.get(newest.repositoryId, pullRequest);
  return {
    installationId: row?.installationId ?? newest.installationId,
    repository: { id: newest.repositoryId, ...repoOf(newest) },
  };
}
