import type { RunState } from '../../domain/run/run.ts';
import type { StepContext } from '../../engine/steps/step.ts';

type Given = Pick<
  StepContext,
  'reader' | 'step' | 'inputs' | 'text' | 'repo' | 'appId' | 'clock' | 'log' | 'signal'
>;

/** Only actions run commands. */
const NO_SHELL: StepContext['shell'] = {
  unusable: async () => 'only a step of a chain runs commands',
  run: () => Promise.reject(new Error('only a step of a chain runs commands')),
};

/**
 * The context of a skill that runs without a stored run.
 * @param state a run of this one step, which is never stored
 */
export function unstoredStep(
  state: RunState,
  session: { id: string; startedAt: Date },
  given: Given,
): StepContext {
  const [invocation] = state.invocations;
  if (!invocation) throw new Error('a run of one step has an invocation');
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
    because: 'event',
    pushesTold: async () => [],
    hasWebhook: () => false,
    shell: NO_SHELL,
    print: () => undefined,
    round: async () => 1,
    requested: async () => [],
    childRun: async () => undefined,
    chainInForce: async (name) => ({ because: `there is no chain "${name}"` }),
    earlierReview: async () => undefined,
    restOfReview: async () => undefined,
    ...given,
  };
}
