import { ancestorsOf } from '../git/history.ts';
import type { State } from '../state.ts';
import { emailOf } from '../state.ts';
import type { Account, Repository } from '../world.ts';

export type AuthorAssociation =
  | 'OWNER'
  | 'MEMBER'
  | 'COLLABORATOR'
  | 'CONTRIBUTOR'
  | 'FIRST_TIME_CONTRIBUTOR'
  | 'NONE';

/** GitHub's word for an author's relation to a repository; GitHub calls people newcomers on pull requests only. */
export function associationOf(
  state: State,
  repository: Repository,
  account: Account,
  on: 'pull request' | 'comment',
): AuthorAssociation {
  if (repository.owner === account) return 'OWNER';
  if (repository.owner.type === 'Organization' && state.isMember(repository.owner, account)) return 'MEMBER';
  if (repository.collaborators.has(account.id)) return 'COLLABORATOR';
  if (hasCommitted(repository, account)) return 'CONTRIBUTOR';
  return on === 'pull request' && account.type === 'User' ? 'FIRST_TIME_CONTRIBUTOR' : 'NONE';
}

function hasCommitted({ git, branches, defaultBranch }: Repository, account: Account): boolean {
  const tip = branches.get(defaultBranch);
  if (tip === undefined) return false;
  return [...ancestorsOf(git, tip)].some((sha) => git.commitAt(sha).author.email === emailOf(account));
}
