import { silentLog } from '../../src/core/log.ts';
import { FULL_ROLLOUT } from '../../src/domain/policy/rollout.ts';
import type { Run } from '../../src/domain/run/run.ts';
import type { ApprovalContext } from '../../src/engine/approvals/approval-context.ts';
import type { GitHubReader } from '../../src/ports/github.ts';
import { at, chainOfSteps, runState } from './builders.ts';

const refuse = () => Promise.reject(new Error('this test’s step may not do that'));

/** GitHub for a step that must not use it: every read fails. */
const noReader = new Proxy({}, { get: () => refuse }) as GitHubReader;

/** The context of a chain's only step, written as in `chainOfSteps`; it can neither read, ask nor merge. */
export function stepContext(
  step: string,
  { run = {}, ...more }: Partial<ApprovalContext> & { run?: Partial<Run> } = {},
): ApprovalContext {
  const definition = chainOfSteps(step);
  const state = runState(definition, run);
  const [only] = definition.steps;
  const [invocation] = state.invocations;
  if (!only || !invocation) throw new Error('a chain has at least one step');
  return {
    state,
    step: only,
    invocation,
    session: {
      id: 'ses_1',
      invocationId: invocation.id,
      attempt: 1,
      status: 'running',
      reason: null,
      contract: null,
      verification: null,
      startedAt: at(0),
      finishedAt: null,
    },
    inputs: only.with,
    text: (input) => {
      const source = only.with[input];
      return typeof source === 'string' ? source : undefined;
    },
    repo: { owner: 'acme', name: 'shop' },
    reader: noReader,
    urgentReader: noReader,
    appId: 100,
    hasWebhook: () => false,
    shell: { unusable: async () => 'commands are turned off in this test', run: refuse },
    print: () => undefined,
    clock: { now: () => at(0) },
    log: silentLog,
    judged: [],
    signal: new AbortController().signal,
    because: 'event',
    requested: async () => [],
    childRun: async () => undefined,
    chainInForce: async (name) => ({ because: `there is no chain "${name}"` }),
    round: async () => 1,
    earlierReview: async () => undefined,
    restOfReview: async () => undefined,
    acceptances: async () => [],
    histories: async () => [],
    outermost: async () => state.run,
    newId: () => 'apr_1',
    approval: undefined,
    timesAsked: 0,
    approvalComment: refuse,
    mergeBegun: refuse,
    ownMerge: refuse,
    configurationNow: refuse,
    mergingOff: false,
    rolloutNow: async () => FULL_ROLLOUT,
    mergeRefusedAt: refuse,
    confirmMerge: refuse,
    pausedBy: refuse,
    pushesTold: refuse,
    earlierRejections: refuse,
    merge: refuse,
    notes: [],
    recording: [],
    gate: {
      open: refuse,
      note: refuse,
      withdraw: async () => undefined,
      settle: refuse,
      isOpen: refuse,
      isHeldByAnother: refuse,
    },
    mergeQueue: { enqueue: refuse, dequeue: refuse },
    ...more,
  };
}
