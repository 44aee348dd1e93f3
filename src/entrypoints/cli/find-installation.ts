import { CountersignError } from '../../core/errors.ts';
import type { RepositoryRef } from '../../domain/event/event.ts';
import { repoOf } from '../../domain/run/run.ts';
import { unknownRepository } from '../../messages/cli.ts';
import type { ReadTx } from '../../ports/storage.ts';

/**
 * Which installation of the App a pull request belongs to, from what has run before.
 * @throws CountersignError `cli.unknown_repository` when nothing has run for the repository.
 */
export async function findInstallation(
  read: ReadTx,
  repository: string,
  pullRequest: number,
): Promise<{ installationId: number; repository: RepositoryRef }> {
  const [newest] = await read.runs.list({ repository, limit: 1 });
  if (!newest) throw new CountersignError('cli.unknown_repository', unknownRepository(repository));
  // The pull request's row is the fresher one: an App that was removed and installed again has a new number.
  const row = await read.pullRequests.get(newest.repositoryId, pullRequest);
  return {
    installationId: row?.installationId ?? newest.installationId,
    repository: { id: newest.repositoryId, ...repoOf(newest) },
  };
}
