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

const NAME = '[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}';
const FORMS = [
  new RegExp(`^(${NAME})(?:#([1-9]\\d{0,9}))?$`),
  // An address, from whatever server, or GitHub's path.
  new RegExp(`^(?:https?://[^/\\s]+)?/?(${NAME})/pull/([1-9]\\d{0,9})(?:[/?#]\\S*)?$`),
];

/**
 * Reads `owner/name#12`, the address of a pull request or `owner/name`.
 * @returns `no_form` for anything else, and `hidden` for a repository that the person does not see, whether there is one or not
 */
export async function subjectOf(
  { overview }: Pick<ReadTx, 'overview'>,
  visible: Visible,
  text: string,
): Promise<Subject | WrongSubject> {
  const [, name, number] = FORMS.map((form) => form.exec(text.trim())).find((found) => found !== null) ?? [];
  if (name === undefined) return { wrong: 'no_form' };
  const found = await overview.repositoryAt(name);
  if (!found || !visible.has(found.repositoryId)) return { wrong: 'hidden', repository: name };
  return { ...found, pullRequest: number === undefined ? null : Number(number) };
}
