import { z } from 'zod';
import type { EffectOf } from '../../domain/effect/effect.ts';
import { GitHubError, type Repo } from '../../ports/github.ts';
import type { Client } from './client.ts';

/**
 * Starts a workflow at most once. GitHub names the run in its answer since 2026:
 * https://github.blog/changelog/2026-02-19-workflow-dispatch-api-now-returns-run-ids. A run does not say who asked for it with which
 * inputs. So if that answer is lost, and there is a run that could be the one, nothing is started again, and none is taken for ours.
 */
export async function startWorkflow(
  client: Client,
  repo: Repo,
  { workflow, branch, inputs, requested_at }: EffectOf<'dispatch'>,
  again: boolean,
): Promise<{ id: number; url: string }> {
  const at = { owner: repo.owner, repo: repo.name, workflow_id: workflow };
  if (again) {
    const [newest] = await client.request(
      'GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs',
      { ...at, event: 'workflow_dispatch', branch, per_page: 1 },
      runsSchema,
    );
    const since = new Date(requested_at).getTime() - SKEW_MS;
    const found = newest && newest.createdAt.getTime() >= since ? newest : undefined;
    if (found) throw new GitHubError('invalid', 0, `${UNKNOWN}: it may be ${found.url}.`);
  }
  const answer = await client.request(
    'POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches',
    { ...at, ref: branch, inputs, return_run_details: true },
    startedSchema,
  );
  // Servers of older versions answer 204.
  if (!answer) throw new GitHubError('invalid', 0, `${UNKNOWN}: this version of GitHub does not say so.`);
  return answer;
}

const UNKNOWN = `The workflow may have been started, and it is not known which run that is`;

/** How far GitHub's clock may be behind ours, in milliseconds. */
const SKEW_MS = 60_000;

const startedSchema = z.union([
  z
    .object({ workflow_run_id: z.int(), html_url: z.string() })
    .transform(({ workflow_run_id: id, html_url: url }) => ({ id, url })),
  z.unknown().transform(() => undefined),
]);
const runsSchema = z
  .object({
    workflow_runs: z.array(
      z
        .object({ html_url: z.string(), created_at: z.iso.datetime({ offset: true }) })
        .transform(({ html_url: url, created_at }) => ({ url, createdAt: new Date(created_at) })),
    ),
  })
  .transform((page) => page.workflow_runs);
