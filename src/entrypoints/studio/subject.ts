import { readName } from '../../core/github-names.ts';
import type { ReadTx } from '../../ports/storage.ts';
import type { Visible } from '../../ports/visible.ts';

/** What a chain is played or fired for. */
export interface Subject {
  repositoryId: number;
  installationId: number;
  /** As it is named now. */
  repository: string;
  /** `null`: for the repository alone. */
  pullRequest: number | null;
}

export type WrongSubject = { wrong: 'no_form' } | { wrong: 'hidden'; repository: string };

/**
 * Reads `owner/name#12`, the address of a pull request or `owner/name`.
 * @returns `no_form` for anything else, and `hidden` for a repository that the person does not see, whether there is one or not
 */
export async function subjectOf(
  { overview }: Pick<ReadTx, 'overview'>,
  visible: Visible,
  text: string,
): Promise<Subject | WrongSubject> {
  const named = readName(text);
  if (named === undefined) return { wrong: 'no_form' };
  const { repository, pullRequest } = named;
  const found = await overview.repositoryAt(repository);
  if (!found || !visible.has(found.repositoryId)) return { wrong: 'hidden', repository };
  return { ...found, pullRequest };
}
