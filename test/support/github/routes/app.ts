import { z } from 'zod';
import { ApiError, notFound } from '../api-error.ts';
import { allows } from '../auth.ts';
import { paginate } from '../pages.ts';
import { type Call, json, numberIn, type Reply, type Router } from '../router.ts';
import { iso, viewApp, viewInstallation } from '../views/account.ts';
import { viewRepository } from '../views/repository.ts';
import type { Installation, Permissions } from '../world.ts';
import { parse } from './input.ts';

const TokenRequest = z.object({
  repositories: z.array(z.string()).optional(),
  repository_ids: z.array(z.number()).optional(),
  permissions: z.record(z.string(), z.enum(['read', 'write', 'admin'])).optional(),
});

/** The app itself, its installations and their tokens. */
export function appRoutes(router: Router): void {
  // https://docs.github.com/en/rest/meta/meta#get-github-meta-information: needs no token.
  router.anybody('GET', '/meta', () => json({ verifiable_password_authentication: false }));

  router.app('GET', '/app', ({ state }) =>
    json({ ...viewApp(state, state.app), installations_count: state.installations.size }),
  );

  router.app('GET', '/app/installations', (call) =>
    paginate(call, '/app/installations', [...call.state.installations.values()], (installation) =>
      viewInstallation(call.state, installation),
    ),
  );

  router.app('GET', '/app/installations/:id', (call) =>
    json(viewInstallation(call.state, installationIn(call))),
  );

  router.app('POST', '/app/installations/:id/access_tokens', createToken);

  router.app('GET', '/repos/:owner/:repo/installation', ({ state, params }) => {
    const repository = state.findRepository(params.owner ?? '', params.repo ?? '');
    return installationReply(state, repository && state.installationOf(repository));
  });

  for (const kind of ['orgs', 'users'])
    router.app('GET', `/${kind}/:login/installation`, ({ state, params }) => {
      const account = state.findAccount(params.login ?? '');
      const installation = [...state.installations.values()].find((one) => one.account === account);
      return installationReply(state, installation);
    });

  router.installation('GET', '/installation/repositories', (call) => {
    const { state, token } = call;
    const repositories = state
      .repositories()
      .filter(
        (repository) =>
          state.covers(token.installation, repository) && (token.repositories?.has(repository.id) ?? true),
      );
    return paginate(
      call,
      '/installation/repositories',
      repositories,
      (repository) => viewRepository(state, repository),
      (page, total) => ({
        total_count: total,
        repository_selection: token.installation.selected ? 'selected' : 'all',
        repositories: page,
      }),
    );
  });
}

function createToken(call: Call): Reply {
  const { state } = call;
  const installation = installationIn(call);
  if (installation.suspendedAt) throw new ApiError(403, 'This installation has been suspended');
  const wanted = parse(TokenRequest, call.body);
  const permissions: Permissions = wanted.permissions
    ? { metadata: 'read', ...wanted.permissions }
    : state.app.permissions;
  for (const [name, level] of Object.entries(permissions)) {
    if (!allows(state.app.permissions, name, level))
      throw new ApiError(422, 'The permissions requested are not granted to this installation.');
  }
  const covered = state.repositories().filter((repository) => state.covers(installation, repository));
  const narrowed = wanted.repositories ?? wanted.repository_ids;
  const repositories = covered.filter(
    ({ id, name }) => wanted.repository_ids?.includes(id) || wanted.repositories?.includes(name),
  );
  if (narrowed && repositories.length !== narrowed.length)
    throw new ApiError(
      422,
      'There is at least one repository that does not exist or is not accessible to the parent installation.',
    );
  const token = call.auth.issue(
    installation,
    permissions,
    narrowed ? new Set(repositories.map(({ id }) => id)) : undefined,
  );
  return json(
    {
      token: token.token,
      expires_at: iso(token.expiresAt),
      permissions,
      repository_selection: narrowed || installation.selected ? 'selected' : 'all',
      ...(narrowed
        ? { repositories: repositories.map((repository) => viewRepository(state, repository)) }
        : {}),
    },
    201,
  );
}

function installationIn(call: Call): Installation {
  const installation = call.state.installations.get(numberIn(call, 'id'));
  if (!installation) throw notFound();
  return installation;
}

function installationReply(state: Call['state'], installation: Installation | undefined): Reply {
  if (!installation) throw notFound();
  return json(viewInstallation(state, installation));
}
