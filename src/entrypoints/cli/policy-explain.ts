import type { Step } from '../../domain/chain/chain.ts';
import { type Run, repoOf } from '../../domain/run/run.ts';
import { readTrustContext } from '../../engine/gates/trust-facts.ts';
import { explained, stepPolicyJson } from '../../messages/cli/policy.ts';
import type { ReadTx } from '../../ports/storage.ts';
import type { Context, DatabaseOption, Output } from './context.ts';
import { findRun } from './find-run.ts';
import { decideSteps, readingGitHub } from './policy-steps.ts';

/**
 * What each step of a run may do now. Trust is read from GitHub as a session reads it. For past refusals, the
 * step's reason has the decision; `run why` shows it.
 */
export async function policyExplain(
  { tools }: Context,
  id: string,
  { database }: DatabaseOption,
): Promise<Output> {
  const access = await tools.policy();
  return tools.withDatabase(database, 'read', async ({ read }) => {
    const { run, invocations, verdicts = [] } = (await findRun(read, id)).state;
    const reader = access.github.reader(run.installationId, 'person');
    const context = await readingGitHub(() => readTrustContext(reader, repoOf(run), run));
    const countersigns = await countersignsOf(read, run);
    const idOf = (index: number) => invocations.find(({ stepIndex }) => stepIndex === index)?.id ?? '';
    const countersignOf = ({ index }: Step) => countersigns.get(idOf(index));
    const mandatory = run.settings.gates ?? [];
    const steps = decideSteps(run.definition, context, access, mandatory, { countersignOf, verdicts });
    return {
      text: (screen) => explained(run, { chain: run.chain, steps }, screen),
      json: {
        run_id: run.id,
        chain: run.chain,
        repository: run.repository,
        pull_request: run.pullRequest,
        head_sha: run.headSha,
        steps: steps.map(stepPolicyJson),
      },
    };
  });
}

/** The run's countersigned approvals, as the gate last found them, by the invocation of their step. */
async function countersignsOf(read: ReadTx, { id }: Run) {
  const approvals = await read.approvals.ofRun(id);
  return new Map(
    approvals
      .filter(({ status }) => status === 'countersigned')
      .map(({ invocationId, headSha, countersignedBy }) => [invocationId, { headSha, by: countersignedBy }]),
  );
}
