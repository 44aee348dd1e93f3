import { ApiError, notFound } from '../api-error.ts';
import { paginate } from '../pages.ts';
import { json, numberIn, type Router } from '../router.ts';
import type { State } from '../state.ts';
import { iso, viewAccount, viewInstallation } from '../views/account.ts';
import { viewRepository } from '../views/repository.ts';
import type { Account, Installation, Repository } from '../world.ts';

/** Signing in to the App, and what a person's own token reads. */
export function userRoutes(router: Router): void {
  // https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
  router.anybody('GET', '/login/oauth/authorize', ({ auth, query }) => {
    const location = auth.oauth.authorize(query);
    if (location === undefined) throw notFound();
    return { status: 302, headers: { location } };
  });

  router.anybody('POST', '/login/oauth/access_token', ({ auth, body }) => {
    if (!(body instanceof URLSearchParams)) throw new ApiError(400, 'Problems parsing the form');
    return json(auth.oauth.token(body));
  });

  router.person('GET', '/user', ({ state, person }) =>
    json({
      ...viewAccount(state, person),
      name: person.login,
      email: null,
      created_at: iso(person.createdAt),
      updated_at: iso(person.createdAt),
    }),
  );

  // https://docs.github.com/en/rest/apps/installations#list-app-installations-accessible-to-the-user-access-token
  router.person('GET', '/user/installations', (call) => {
    const { state, person } = call;
    const installations = [...state.installations.values()].filter(
      (installation) => repositoriesFor(state, installation, person).length > 0,
    );
    return paginate(
      call,
      '/user/installations',
      installations,
      (installation) => viewInstallation(state, installation),
      (page, total) => ({ total_count: total, installations: page }),
    );
  });

  // https://docs.github.com/en/rest/apps/installations#list-repositories-accessible-to-the-user-access-token
  router.person('GET', '/user/installations/:id/repositories', (call) => {
    const { state, person } = call;
    const installation = state.installations.get(numberIn(call, 'id'));
    if (!installation) throw notFound();
    if (installation.suspendedAt) throw new ApiError(403, 'This installation has been suspended');
    return paginate(
      call,
      `/user/installations/${installation.id}/repositories`,
      repositoriesFor(state, installation, person),
      (repository) => viewRepository(state, repository),
      (page, total) => ({ total_count: total, repositories: page }),
    );
  });
}

/** Those of the installation that the person has a role in; being able to read what is public is none. */
function repositoriesFor(state: State, installation: Installation, person: Account): Repository[] {
  return state
    .repositories()
    .filter(
      (repository) =>
        state.covers(installation, repository) && state.roleOf(repository, person) !== undefined,
    );
}
