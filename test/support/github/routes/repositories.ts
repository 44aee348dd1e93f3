import { notFound } from '../api-error.ts';
import { json, type Router } from '../router.ts';
import { viewCommit } from '../views/commit.ts';
import { repositoryUrl, viewFullRepository } from '../views/repository.ts';

/** The repository itself and its branches with their protection. */
export function repositoryRoutes(router: Router): void {
  router.repository('GET', '', 'metadata:read', ({ state, repository }) =>
    json(viewFullRepository(state, repository)),
  );

  router.repository('GET', '/branches/*branch', 'contents:read', ({ state, repository, params }) => {
    const name = params.branch ?? '';
    const sha = repository.branches.get(name);
    if (sha === undefined) throw notFound();
    const contexts = repository.requiredChecks.get(name) ?? [];
    const protectedBranch = contexts.length > 0;
    const url = `${repositoryUrl(state, repository)}/branches/${encodeURIComponent(name)}`;
    return json({
      name,
      commit: viewCommit(state, repository, repository.git.commitAt(sha)),
      _links: { self: url, html: url },
      protected: protectedBranch,
      protection: {
        enabled: protectedBranch,
        required_status_checks: {
          enforcement_level: protectedBranch ? 'non_admins' : 'off',
          contexts,
          checks: contexts.map((context) => ({ context, app_id: null })),
        },
      },
      protection_url: `${url}/protection`,
    });
  });

  // Required checks are set by branch protection here; rulesets are a second way that no scenario needs yet.
  router.repository('GET', '/rules/branches/*branch', 'metadata:read', () => json([]));
}
