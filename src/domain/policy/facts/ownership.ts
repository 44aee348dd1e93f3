import { unreachable } from '../../../core/errors.ts';
import type { Codeowners, Owner, OwnersOf } from './codeowners.ts';
import { type Fact, known } from './fact.ts';

/** A person whose review approves this head. */
export interface Approver {
  id: number;
  login: string;
  /** The teams among those asked for, as `organisation/slug`, of which the person is an active member. */
  teams: readonly string[];
}

export interface Owned extends OwnersOf {
  path: string;
}

/** The changed paths that have owners. @throws TooManyOwners */
export function ownedPaths(paths: readonly string[], codeowners: Codeowners): Owned[] {
  return paths.flatMap((path) => {
    const found = codeowners.of(path);
    return found && found.owners.length > 0 ? [{ path, line: found.line, owners: found.owners }] : [];
  });
}

/** The teams whose members could approve, as `organisation/slug`. */
export function teamsOf(owned: readonly Owned[]): string[] {
  const teams = owned.flatMap(({ owners }) =>
    owners.flatMap(({ owner }) => (owner.kind === 'team' ? [teamName(owner)] : [])),
  );
  return [...new Set(teams)];
}

/** How many missing paths a message names, out of up to 3,000. */
const MAX_NAMED = 5;

/** Whether every owned path has an owner among the approvers. One is enough, as on GitHub. */
export function ownersApprove(
  owned: readonly Owned[],
  approvers: readonly Approver[],
  skipped: readonly number[],
): Fact {
  const unapproved = owned.filter(
    ({ owners }) => !owners.some(({ owner }) => approvers.some((approver) => isOwner(approver, owner))),
  );
  const unread = skipped.length === 0 ? '' : `; GitHub skips line ${skipped.slice(0, MAX_NAMED).join(', ')}`;
  if (unapproved.length === 0) {
    const count = owned.length;
    const summary = count === 0 ? 'no changed file has an owner' : `owners approve all ${count} owned paths`;
    return known(true, `${summary}${unread}`);
  }
  const named = unapproved
    .slice(0, MAX_NAMED)
    .map(({ path, owners }) => `${path} (${owners.map(({ text }) => text.replace(/^@/, '')).join(' or ')})`);
  const more = unapproved.length > MAX_NAMED ? ` and ${unapproved.length - MAX_NAMED} more` : '';
  return known(false, `no owner approves ${named.join(', ')}${more}${unread}`);
}

function isOwner(approver: Approver, owner: Owner): boolean {
  switch (owner.kind) {
    case 'user':
      return owner.login.toLowerCase() === approver.login.toLowerCase();
    case 'team':
      return approver.teams.includes(teamName(owner));
    case 'account':
      return owner.id === approver.id;
    case 'nobody':
      return false;
    default:
      return unreachable(owner);
  }
}

function teamName({ organisation, slug }: { organisation: string; slug: string }): string {
  return `${organisation}/${slug}`.toLowerCase();
}
