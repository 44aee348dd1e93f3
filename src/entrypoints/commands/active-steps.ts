import type { EventOf } from '../../domain/event/event.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import { type CountersignRules, tightened } from '../../domain/policy/countersign-rules.ts';
import { isMergeStep, type Run } from '../../domain/run/run.ts';
import type { PullRequest } from '../../ports/github.ts';
import type { ReadTx } from '../../ports/storage.ts';

/** A step of an active run for the head, with its open approval if it waits for one. */
export interface ActiveStep {
  step: string;
  merges: boolean;
  openApproval: OpenApproval | undefined;
}

export interface OpenApproval {
  run: Run;
  step: string;
  approval: Approval;
}

/** The rules for the answers to an open approval. */
export function answerRules({ run, step }: Pick<OpenApproval, 'run' | 'step'>): CountersignRules {
  const { approval } = run.definition.steps.find(({ id }) => id === step) ?? {};
  return tightened(run.settings.countersign, approval);
}

/** All steps of the active runs for this head of the pull request. */
export async function activeSteps(
  { runs, approvals }: ReadTx,
  { repository, pull_request }: EventOf<'command.issued'>,
  { headSha }: Pick<PullRequest, 'headSha'>,
): Promise<ActiveStep[]> {
  const filter = { repositoryId: repository.id, pullRequest: pull_request, headSha, active: true };
  const steps: ActiveStep[] = [];
  for (const { id } of await runs.list(filter)) {
    const state = await runs.load(id);
    for (const invocation of state?.invocations ?? []) {
      const { stepId: step, status } = invocation;
      const approval =
        status === 'waiting_approval' ? await approvals.ofInvocation(invocation.id) : undefined;
      if (!state) continue;
      const openApproval = approval?.status === 'open' ? { run: state.run, step, approval } : undefined;
      steps.push({ step, merges: isMergeStep(state.run, invocation), openApproval });
    }
  }
  return steps;
}
