import { ApiError, notFound } from '../api-error.ts';
import { paginate } from '../pages.ts';
import { numberIn, type Router } from '../router.ts';
import { iso } from '../views/account.ts';
import { repositoryUrl } from '../views/repository.ts';
import { pathOf } from './git.ts';

/** What workflow runs leave behind. */
export function artifactRoutes(router: Router): void {
  router.repository('GET', '/actions/artifacts', 'actions:read', (call) => {
    const name = call.query.get('name');
    const found = call.repository.workflowArtifacts.filter((one) => name === null || one.name === name);
    return paginate(
      call,
      pathOf(call, '/actions/artifacts'),
      found.toReversed(),
      (one) => ({
        id: one.id,
        name: one.name,
        size_in_bytes: 1_000,
        url: `${repositoryUrl(call.state, call.repository)}/actions/artifacts/${one.id}`,
        archive_download_url: `${repositoryUrl(call.state, call.repository)}/actions/artifacts/${one.id}/zip`,
        expired: one.expired,
        created_at: iso(one.createdAt),
        workflow_run: { id: one.runId, repository_id: call.repository.id, head_sha: one.headSha },
      }),
      (artifacts, total_count) => ({ total_count, artifacts }),
    );
  });

  router.repository('GET', '/actions/artifacts/:id/zip', 'actions:read', (call) => {
    const id = numberIn(call, 'id');
    const found = call.repository.workflowArtifacts.find((one) => one.id === id);
    if (!found) throw notFound();
    if (found.expired) throw new ApiError(410, 'Artifact has expired');
    return { status: 302, headers: { location: found.archiveUrl } };
  });
}
