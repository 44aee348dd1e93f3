import type { Clock } from '../../core/clock.ts';
import type { OpenGateContent } from '../../domain/effect/effect.ts';
import { gateCheckName } from '../../domain/policy/gate-check.ts';
import { type GateProof, gateOf } from '../../domain/policy/merge-gate.ts';
import { GitHubError } from '../../ports/github.ts';
import { anythingSchema } from './answers.ts';
import { checkRunBodies } from './check-run.ts';
import type { Client } from './client.ts';
import { refusingStale } from './fresh-proof.ts';

const ROUTE = 'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}';

/**
 * The only request that turns a gate check green. It takes repository, branch and commit from the proof, and
 * checks the proof again when the request is sent, because the client may have waited for a token.
 * @throws GitHubError `unavailable` if the proof is stale, `invalid` if the content is about another gate;
 * nothing was sent then
 */
export async function passGate(
  client: Client,
  clock: Clock,
  proof: GateProof,
  checkRunId: number,
  content: OpenGateContent,
): Promise<void> {
  const refuseStale = refusingStale(proof, clock, ROUTE);
  refuseStale();
  const { owner, repo, headSha, baseRef } = gateOf(proof);
  if (content.name !== gateCheckName(baseRef) || content.head_sha !== headSha) {
    throw new GitHubError('invalid', 0, `${ROUTE}: the proof is for another gate; nothing was sent.`);
  }
  const [body] = checkRunBodies({
    ...content,
    state: { status: 'completed', conclusion: 'success', completed_at: clock.now().toISOString() },
    text: '',
    annotations: [],
    actions: [],
    details_url: null,
  });
  await client.request(ROUTE, { owner, repo, check_run_id: checkRunId, ...body }, anythingSchema, {
    beforeSending: refuseStale,
  });
}
