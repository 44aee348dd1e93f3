import { ApiError, notFound } from '../api-error.ts';
import { READER } from '../auth.ts';
import { paginate } from '../pages.ts';
import { json, type Reply, type RepositoryCall, type Router } from '../router.ts';
import { iso, viewAccount } from '../views/account.ts';
import type { Role } from '../world.ts';
import { pathOf } from './git.ts';

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

/** The list's filter → the role that it asks for. */
const LEAST: Readonly<Record<string, Role>> = {
  pull: 'read',
  triage: 'triage',
  push: 'write',
  maintain: 'maintain',
  admin: 'admin',
};

/** Who people are and what they may do. */
export function peopleRoutes(router: Router): void {
  router.repository('GET', '/collaborators/:user/permission', 'metadata:read', permission);

  // https://docs.github.com/en/rest/collaborators/collaborators#list-repository-collaborators
  router.repository('GET', '/collaborators', 'metadata:read', (call) => {
    refuseNobody(call);
    const { state, repository, query } = call;
    const least = LEAST[query.get('permission') ?? 'pull'] ?? 'read';
    const people = [...repository.collaborators.keys()]
      .flatMap((id) => state.accountById(id) ?? [])
      .filter((account) => RANK.indexOf(state.roleOf(repository, account) ?? 'none') >= RANK.indexOf(least));
    return paginate(call, pathOf(call, '/collaborators'), people, (account) => {
      const role = state.roleOf(repository, account) ?? 'none';
      return { ...viewAccount(state, account), permissions: permissionsOf(role), role_name: role };
    });
  });

  // https://docs.github.com/en/rest/teams/members#list-team-members
  router.installation('GET', '/orgs/:org/teams/:slug/members', (call) => {
    const { state, token, params } = call;
    const { org = '', slug = '' } = params;
    if (token.permissions.members === undefined)
      throw new ApiError(403, 'Resource not accessible by integration');
    const own = token.installation.account.login.toLowerCase() === org.toLowerCase();
    const members = own ? state.team(org, slug) : undefined;
    if (!members) throw notFound();
    const people = [...members].flatMap((id) => state.accountById(id) ?? []);
    return paginate(call, `/orgs/${org}/teams/${slug}/members`, people, (account) => ({
      ...viewAccount(state, account),
      role: 'member',
      inherited: false,
    }));
  });

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

/** GitHub says who may do what only to those who sign in. */
function refuseNobody({ token }: RepositoryCall): void {
  if (token.isAnonymous) throw new ApiError(401, 'Requires authentication');
}

function permission(call: RepositoryCall): Reply {
  refuseNobody(call);
  const { state, repository, params, token } = call;
  // A person needs push access, which a token that only reads has not: https://github.com/yegor256/rultor/issues/1407
  const isReader = token.person && !canPush(state.roleOf(repository, token.person));
  if (token.installation.id === READER || isReader)
    throw new ApiError(403, 'Must have push access to view collaborator permission.');
  const login = params.user ?? '';
  const account = state.findAccount(login);
  if (account?.type !== 'User') throw new ApiError(404, `${login} is not a user`);
  const role = state.roleOf(repository, account) ?? (repository.private ? 'none' : 'read');
  return json({
    permission: FOLDED[role],
    role_name: role,
    user: {
      ...viewAccount(state, account),
      permissions: permissionsOf(role),
      role_name: role,
    },
  });
}

function canPush(role: Role | undefined): boolean {
  return role !== undefined && RANK.indexOf(role) >= RANK.indexOf('write');
}

function permissionsOf(role: Role | 'none'): Record<string, boolean> {
  const atLeast = (least: Role): boolean => RANK.indexOf(role) >= RANK.indexOf(least);
  return {
    admin: atLeast('admin'),
    maintain: atLeast('maintain'),
    push: atLeast('write'),
    triage: atLeast('triage'),
    pull: atLeast('read'),
  };
}
