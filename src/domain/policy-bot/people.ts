import type { Json } from '../../core/canonical.ts';
import { teamSchema, userSchema } from '../policy/countersign-rules.ts';
import { isMapping } from './policy.ts';

type Permission = 'write' | 'maintain' | 'admin';

/** People of a policy, as far as Countersign can name them. A person in any of the groups belongs to them. */
export interface People {
  teams: readonly string[];
  users: readonly string[];
  permission: Permission | undefined;
  /** What cannot be named: it is left out, so fewer people belong to them. */
  left: readonly { key: string; because: LeftOut; names: readonly string[] }[];
}

type LeftOut = 'organisations' | 'read_access' | 'app' | 'name' | 'too_many' | 'unknown_key';

const PERMISSIONS: readonly string[] = ['read', 'triage', 'write', 'maintain', 'admin'];
/** As many as a step can name. */
const MAX_TEAMS = 20;
const MAX_USERS = 50;
const KEYS: readonly string[] = [
  'users',
  'teams',
  'organizations',
  'permissions',
  'admins',
  'write_collaborators',
];

/** Reads the keys that name people; the others are those of the caller. */
export function readPeople(value: Json | undefined, otherKeys: readonly string[] = []): People {
  const given = isMapping(value) ? value : {};
  const left: { key: string; because: LeftOut; names: string[] }[] = [];
  const leave = (key: string, because: LeftOut, names: readonly string[]) => {
    if (names.length > 0) left.push({ key, because, names: [...names] });
  };
  const namesAt = (key: string, isName: (name: string) => boolean, most: number) => {
    const all = [...new Set(textsOf(given[key]))];
    const named = all.filter(isName);
    const apps = all.filter((name) => key === 'users' && name.endsWith('[bot]'));
    leave(key, 'app', apps);
    leave(
      key,
      'name',
      all.filter((name) => !isName(name) && !apps.includes(name)),
    );
    leave(key, 'too_many', named.slice(most));
    return named.slice(0, most);
  };
  const teams = namesAt('teams', (name) => teamSchema.safeParse(name).success, MAX_TEAMS);
  const users = namesAt('users', (name) => userSchema.safeParse(name).success, MAX_USERS);
  leave('organizations', 'organisations', textsOf(given.organizations));
  const permissions = [
    ...textsOf(given.permissions),
    ...(given.admins === true ? ['admin'] : []),
    ...(given.write_collaborators === true ? ['write'] : []),
  ];
  leave(
    'permissions',
    'read_access',
    permissions.filter((one) => one === 'read' || one === 'triage'),
  );
  leave(
    'permissions',
    'name',
    permissions.filter((one) => !PERMISSIONS.includes(one)),
  );
  for (const key of Object.keys(given))
    if (!KEYS.includes(key) && !otherKeys.includes(key)) leave(key, 'unknown_key', [key]);
  const ranks = permissions.map((one) => PERMISSIONS.indexOf(one)).filter((rank) => rank >= 0);
  // People who can only read or triage cannot countersign, so the least that can is write access.
  const least = ranks.length === 0 ? undefined : PERMISSIONS[Math.max(2, Math.min(...ranks))];
  return { teams, users, permission: least as Permission | undefined, left };
}

/** Whether anybody belongs to them. */
export function isAnybody({ teams, users, permission }: People): boolean {
  return teams.length > 0 || users.length > 0 || permission !== undefined;
}

export function joinedPeople(all: readonly People[]): People {
  const permissions = all.flatMap(({ permission }) => permission ?? []);
  const least = (['write', 'maintain', 'admin'] as const).find((one) => permissions.includes(one));
  return {
    teams: [...new Set(all.flatMap(({ teams }) => teams))],
    users: [...new Set(all.flatMap(({ users }) => users))],
    permission: least,
    left: all.flatMap(({ left }) => left),
  };
}

/** The texts of a list, or of one text. Other values are none. */
export function textsOf(value: Json | undefined): string[] {
  return [value ?? []].flat().filter((one) => typeof one === 'string');
}
