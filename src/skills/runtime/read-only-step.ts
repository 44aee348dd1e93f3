import type { RunState } from '../../domain/run/run.ts';
import type { StepContext } from '../../engine/steps/step.ts';
import type { GitHubReader } from '../../ports/github.ts';

type Given = Pick<
  StepContext,
  'step' | 'inputs' | 'text' | 'repo' | 'appId' | 'clock' | 'log' | 'signal' | 'newId'
> &
  Partial<Pick<StepContext, 'mergeBegun' | 'configurationNow' | 'pausedBy'>>;

/**
 * What a skill is given that is carried out for no stored run: it reads, and whatever would write, ask or merge is refused.
 * @param state a run of this one step, which nobody stores.
 * @param refusal the sentence for what is refused.
 */
export function readOnlyStep(
  state: RunState,
  reader: GitHubReader,
  session: { id: string; startedAt: Date },
  refusal: string,
  given: Given,
): StepContext {
  const [invocation] = state.invocations;
  if (!invocation) throw new Error('a run of one step has an invocation');
  const refuse = () => Promise.reject(new Error(refusal));
  return {
    state,
    invocation,
    session: {
      ...session,
      invocationId: invocation.id,
      attempt: 1,
      status: 'running',
      reason: null,
      contract: null,
      verification: null,
      finishedAt: null,
    },
    reader,
    urgentReader: reader,
    because: 'event',
    judged: [],
    round: async () => 1,
    earlierReview: async () => undefined,
    approval: undefined,
    timesAsked: 0,
    approvalComment: refuse,
    mergeBegun: refuse,
    ownMerge: refuse,
    configurationNow: refuse,
    mergeRefusedAt: refuse,
    confirmMerge: refuse,
    pausedBy: refuse,
    mergingOff: false,
    pushesTold: refuse,
    earlierRejections: refuse,
    merge: refuse,
    gate: { open: refuse, withdraw: refuse, settle: refuse, isOpen: refuse, isHeldByAnother: refuse },
    mergeQueue: { enqueue: refuse, dequeue: refuse },
    ...given,
  };
}
