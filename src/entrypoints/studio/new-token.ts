import { randomBytes } from 'node:crypto';
import { timeSortedIds } from '../../core/ids.ts';
import { type ApiToken, newApiToken } from '../../domain/api-token/api-token.ts';
import { nothingThere } from '../../messages/studio/chain-form.ts';
import {
  MOST_NAME,
  MOST_REPOSITORIES,
  TOKEN_DAYS,
  type TokenFields,
  WRONG_TOKEN,
} from '../../messages/studio/tokens.ts';
import { said, saidLines } from '../../messages/studio/untrusted.ts';
import type { ReadTx } from '../../ports/storage.ts';
import type { Visible } from '../../ports/visible.ts';
import { subjectOf } from './subject.ts';
import type { Person } from './viewer.ts';

const DAY_MS = 86_400_000;
const STANDARD_DAYS = 90;
/** Of the repositories, before they are read. */
const MOST_LETTERS = 4_000;

/** What is wanted of a new token, if nothing is wrong with it. */
type TokenWanted = Pick<ApiToken, 'name' | 'repositoryIds'> & { days: number };

/** The form that nobody has changed, with the repositories that the person sees, if they are few. */
export function emptyTokenFields(repositories: Iterable<string>): TokenFields {
  const all = [...repositories];
  return {
    name: { value: '' },
    repositories: { value: all.length > MOST_REPOSITORIES ? '' : all.join('\n') },
    days: String(STANDARD_DAYS),
  };
}

/** Reads the form. A repository that the person does not see is wrong, whether there is one or not. */
export async function tokenWanted(
  read: ReadTx,
  visible: Visible,
  sent: Readonly<Record<string, unknown>>,
): Promise<{ fields: TokenFields; wanted: TokenWanted | undefined }> {
  const textOf = (name: string) => (typeof sent[name] === 'string' ? sent[name] : '');
  const name = said(textOf('token'), MOST_NAME);
  const lines = saidLines(textOf('repositories').slice(0, MOST_LETTERS));
  const days = TOKEN_DAYS.find((one) => String(one) === textOf('days')) ?? STANDARD_DAYS;
  const wrongName = name === '' ? WRONG_TOKEN.name : undefined;
  const found = await repositoriesIn(read, visible, lines);
  const wrongRepositories = 'wrong' in found ? found.wrong : undefined;
  return {
    fields: {
      name: { value: name, wrong: wrongName },
      repositories: { value: lines, wrong: wrongRepositories },
      days: String(days),
    },
    wanted:
      'wrong' in found || wrongName !== undefined ? undefined : { name, repositoryIds: found.ids, days },
  };
}

async function repositoriesIn(
  read: ReadTx,
  visible: Visible,
  lines: string,
): Promise<{ ids: number[] } | { wrong: string }> {
  const names = [...new Set(lines.split(/[\s,]+/).filter((one) => one !== ''))];
  if (names.length === 0) return { wrong: WRONG_TOKEN.noRepositories };
  if (names.length > MOST_REPOSITORIES) return { wrong: WRONG_TOKEN.tooMany };
  const ids = new Set<number>();
  for (const name of names) {
    const subject = await subjectOf(read, visible, name);
    if ('wrong' in subject)
      return {
        wrong: subject.wrong === 'hidden' ? nothingThere(subject.repository) : WRONG_TOKEN.form(name),
      };
    if (subject.pullRequest !== null) return { wrong: WRONG_TOKEN.form(name) };
    ids.add(subject.repositoryId);
  }
  return { ids: [...ids] };
}

/** A token of a person, which only reads. Operators make those that read more on the command line. */
export function tokenOf(
  { id, login }: Person,
  { name, repositoryIds, days }: TokenWanted,
  now: Date,
): { token: ApiToken; secret: string } {
  const parts = {
    id: timeSortedIds(() => now).next('tok'),
    name,
    scopes: ['read'] as const,
    repositoryIds,
    owner: { id, login },
    createdAt: now,
    expiresAt: new Date(now.getTime() + days * DAY_MS),
  };
  return newApiToken(parts, randomBytes(32));
}
