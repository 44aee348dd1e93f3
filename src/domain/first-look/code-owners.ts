import { teamSchema, userSchema } from '../policy/countersign-rules.ts';

/** Where GitHub looks for the file, in this order: the first one counts. */
export const CODE_OWNERS_FILES = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'] as const;

export interface Owners {
  /** As `organisation/team-slug`. */
  teams: string[];
  users: string[];
}

const ALL_FILES: readonly string[] = ['*', '**', '/**'];
const MAX_OWNERS = 20;

/**
 * Who owns all files. Of the rules for all files, the last counts; rules for some files are not looked at.
 * https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
 */
export function ownersOfAll(text: string): Owners {
  const owners: Owners = { teams: [], users: [] };
  const rule = text
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .map((line) => line.split(/\s+/))
    .findLast(([pattern = '']) => ALL_FILES.includes(pattern));
  for (const owner of rule?.slice(1, MAX_OWNERS + 1) ?? []) {
    // Others are e-mail addresses, which name nobody on GitHub for us.
    if (!owner.startsWith('@')) continue;
    const name = owner.slice(1);
    if (teamSchema.safeParse(name).success) owners.teams.push(name);
    else if (userSchema.safeParse(name).success) owners.users.push(name);
  }
  return owners;
}
