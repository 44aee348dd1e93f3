import type { Step } from '../../domain/chain/chain.ts';
import { type Run, repoOf } from '../../domain/run/run.ts';
import { readTrustContext } from '../../engine/gates/trust-facts.ts';
import { explained, stepPolicyJson } from '../../messages/policy.ts';
import type { ReadTx } from '../../ports/storage.ts';
import type { Context, DatabaseOption, Said } from './context.ts';
import { findRun } from './find-run.ts';
import { decideSteps, readingGitHub } from './policy-steps.ts';

/**
 * What each step of a run may do as of this moment: trust is read from GitHub as a session reads it. What was decided when a
 * step was refused is in its reason, and `run why` shows that.
 */
export async function policyExplain(
  { tools }: Context,
  id: string,
  { database }: DatabaseOption,
): Promise<Said> {
  const world = await tools.policy();
  return tools.withDatabase(database, 'read', async ({ read }) => {
    const { run, invocations, verdicts = [] } = (await findRun(read, id)).state;
    const reader = world.github.reader(run.installationId, 'person');
    const context = await readingGitHub(() => readTrustContext(reader, repoOf(run), run));
    const countersigns = await countersignsOf(read, run);
    const idOf = (index: number) => invocations.find(({ stepIndex }) => stepIndex === index)?.id ?? '';
    const countersignOf = ({ index }: Step) => countersigns.get(idOf(index));
    const mandatory = run.settings.gates ?? [];
    const steps = decideSteps(run.definition, context, world, mandatory, { countersignOf, verdicts });
    return {
      text: explained(run, { chain: run.chain, steps }),
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

/** The questions of the run that were answered with yes, as the gate last found them, by their step's invocation. */
async function countersignsOf(read: ReadTx, { id }: Run) {
  const approvals = await read.approvals.ofRun(id);
  return new Map(
    approvals
      .filter(({ status }) => status === 'countersigned')
      .map(({ invocationId, headSha, countersignedBy }) => [invocationId, { headSha, by: countersignedBy }]),
  );
}
