import type { EventOf } from '../../domain/event/event.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import { isMergeStep, type Run } from '../../domain/run/run.ts';
import type { PullRequest } from '../../ports/github.ts';
import type { ReadTx } from '../../ports/storage.ts';

/** A step of a run that is under way for the head, with the question that it waits for an answer to. */
export interface Asking {
  step: string;
  merges: boolean;
  question: OpenQuestion | undefined;
}

export interface OpenQuestion {
  run: Run;
  step: string;
  approval: Approval;
}

/** Every step of the runs that are under way for this head of the pull request. */
export async function askingSteps(
  { runs, approvals }: ReadTx,
  { repository, pull_request }: EventOf<'command.issued'>,
  { headSha }: Pick<PullRequest, 'headSha'>,
): Promise<Asking[]> {
  const filter = { repositoryId: repository.id, pullRequest: pull_request, headSha, active: true };
  const steps: Asking[] = [];
  for (const { id } of await runs.list(filter)) {
    const state = await runs.load(id);
    for (const invocation of state?.invocations ?? []) {
      const { stepId: step, status } = invocation;
      const approval =
        status === 'waiting_approval' ? await approvals.ofInvocation(invocation.id) : undefined;
      if (!state) continue;
      const question = approval?.status === 'open' ? { run: state.run, step, approval } : undefined;
      steps.push({ step, merges: isMergeStep(state.run, invocation), question });
    }
  }
  return steps;
}
