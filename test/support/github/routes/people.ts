import { ApiError, notFound } from '../api-error.ts';
import { json, type Reply, type RepositoryCall, type Router } from '../router.ts';
import { iso, viewAccount } from '../views/account.ts';
import type { Role } from '../world.ts';

/** The exact role → the value of the older, coarser field. */
const FOLDED: Record<Role | 'none', 'admin' | 'write' | 'read' | 'none'> = {
  admin: 'admin',
  maintain: 'write',
  write: 'write',
  triage: 'read',
  read: 'read',
  none: 'none',
};
const RANK: readonly (Role | 'none')[] = ['none', 'read', 'triage', 'write', 'maintain', 'admin'];

/** Who people are and what they may do. */
export function peopleRoutes(router: Router): void {
  router.repository('GET', '/collaborators/:user/permission', 'metadata:read', permission);

  router.installation('GET', '/orgs/:org/teams/:slug/memberships/:user', ({ state, token, params }) => {
    const { org = '', slug = '', user = '' } = params;
    if (token.permissions.members === undefined)
      throw new ApiError(403, 'Resource not accessible by integration');
    const account = state.findAccount(user);
    const own = token.installation.account.login.toLowerCase() === org.toLowerCase();
    if (!own || !account || !state.team(org, slug)?.has(account.id)) throw notFound();
    return json({
      url: `${state.url}/orgs/${org}/teams/${slug}/memberships/${account.login}`,
      role: 'member',
      state: 'active',
    });
  });

  router.installation('GET', '/users/:user', ({ state, params }) => {
    const account = state.findAccount(params.user ?? '');
    if (!account) throw notFound();
    return json({
      ...viewAccount(state, account),
      name: account.login,
      company: null,
      email: null,
      bio: null,
      public_repos: 0,
      followers: 0,
      following: 0,
      created_at: iso(account.createdAt),
      updated_at: iso(account.createdAt),
    });
  });
}

function permission({ state, repository, params }: RepositoryCall): Reply {
  const login = params.user ?? '';
  const account = state.findAccount(login);
  if (account?.type !== 'User') throw new ApiError(404, `${login} is not a user`);
  const role = state.roleOf(repository, account) ?? (repository.private ? 'none' : 'read');
  const atLeast = (least: Role): boolean => RANK.indexOf(role) >= RANK.indexOf(least);
  return json({
    permission: FOLDED[role],
    role_name: role,
    user: {
      ...viewAccount(state, account),
      permissions: {
        admin: atLeast('admin'),
        maintain: atLeast('maintain'),
        push: atLeast('write'),
        triage: atLeast('triage'),
        pull: atLeast('read'),
      },
      role_name: role,
    },
  });
}
