import { redactValue } from '../../core/redact/redact.ts';
import type { RepositoryEvent } from '../../domain/event/event.ts';
import { clip } from '../../messages/text/pretty.ts';
import type { Tx } from '../../ports/storage.ts';
import type { Configuration } from '../configuration/configuration.ts';

/** Of a diagnostic, which can quote the file. */
const MAX_LETTERS = 500;

/**
 * Keeps how the repository is, for the report: its rollout, and the errors of its configuration.
 * @param configuration of its default branch
 */
export async function noteRepository(
  tx: Pick<Tx, 'repositoryStates'>,
  { installation_id, repository }: Pick<RepositoryEvent, 'installation_id' | 'repository'>,
  { branch, rollout, broken }: Pick<Configuration, 'branch' | 'rollout' | 'broken'>,
  at: Date,
): Promise<void> {
  const errors = broken.flatMap(({ diagnostics }) => diagnostics);
  const [first] = errors;
  await tx.repositoryStates.put(
    {
      repositoryId: repository.id,
      installationId: installation_id,
      repository: `${repository.owner}/${repository.name}`,
      branch,
      rollout,
      errors: errors.length,
      first: first
        ? redactValue({
            file: clip(first.file, MAX_LETTERS),
            line: first.line,
            column: first.column,
            message: clip(first.message, MAX_LETTERS),
          })
        : null,
    },
    at,
  );
}
