import { z } from 'zod';
import { setStatus } from '../operations/checks.ts';
import { paginate } from '../pages.ts';
import { json, type Router } from '../router.ts';
import { combinedState, latestStatuses } from '../rules/checks.ts';
import { viewStatus } from '../views/check.ts';
import { repositoryUrl, viewRepository } from '../views/repository.ts';
import { commitIn, pathOf } from './git.ts';
import { parse } from './input.ts';

const NewStatus = z.object({
  state: z.enum(['error', 'failure', 'pending', 'success']),
  context: z.string().default('default'),
  description: z.string().max(140).optional(),
  target_url: z.string().optional(),
});

/** Commit statuses, the older way of reporting CI. */
export function statusRoutes(router: Router): void {
  router.repository('GET', '/commits/*ref/status', 'statuses:read', (call) => {
    const { state, repository } = call;
    const { sha } = commitIn(call, call.params.ref ?? '');
    const statuses = latestStatuses(repository, sha);
    return paginate(
      call,
      pathOf(call, `/commits/${sha}/status`),
      statuses,
      (status) => viewStatus(state, repository, status),
      (page, total) => ({
        state: combinedState(statuses.map((status) => status.state)),
        statuses: page,
        sha,
        total_count: total,
        repository: viewRepository(state, repository),
        commit_url: `${repositoryUrl(state, repository)}/commits/${sha}`,
        url: `${repositoryUrl(state, repository)}/commits/${sha}/status`,
      }),
    );
  });

  router.repository('GET', '/commits/*ref/statuses', 'statuses:read', (call) => {
    const { sha } = commitIn(call, call.params.ref ?? '');
    const statuses = call.repository.statuses.filter((status) => status.sha === sha).toReversed();
    return paginate(call, pathOf(call, `/commits/${sha}/statuses`), statuses, (status) =>
      viewStatus(call.state, call.repository, status),
    );
  });

  router.repository('POST', '/statuses/:sha', 'statuses:write', (call) => {
    const input = parse(NewStatus, call.body);
    const status = setStatus(call.state, call.repository, {
      sha: commitIn(call, call.params.sha ?? '').sha,
      context: input.context,
      state: input.state,
      description: input.description,
      targetUrl: input.target_url,
      creator: call.state.app.bot,
    });
    return json(viewStatus(call.state, call.repository, status), 201);
  });
}
