import { json, type Router } from '../router.ts';
import { iso, nodeId, viewAccount } from '../views/account.ts';

/** At most this many of the newest; older ones are behind a cursor that no test needs. */
const MOST = 100;

/** https://docs.github.com/en/rest/repos/repos#list-repository-activities */
export function activityRoutes(router: Router): void {
  router.repository('GET', '/activity', 'contents:read', ({ state, repository, query }) => {
    const wanted = query.get('ref')?.replace(/^refs\/heads\//, '');
    const found = repository.activity
      .filter(({ branch }) => wanted === undefined || branch === wanted)
      .toReversed()
      .slice(0, Math.min(Number(query.get('per_page') ?? 30), MOST));
    return json(
      found.map(({ id, before, after, branch, at, type, actor }) => ({
        id,
        node_id: nodeId('PushEvent', id),
        before,
        after,
        ref: `refs/heads/${branch}`,
        timestamp: iso(at),
        activity_type: type,
        actor: viewAccount(state, actor),
      })),
    );
  });
}
