import type { Settings } from '../../src/domain/chain/settings.ts';
import type { Effect } from '../../src/domain/effect/effect.ts';
import { reason } from '../../src/domain/explanation/reason.ts';
import { makeOutcome } from '../../src/domain/outcome/outcome.ts';
import type { Approval } from '../../src/domain/policy/approval.ts';
import {
  type Invocation,
  NOT_BEGUN,
  type Run,
  type RunState,
  type Session,
} from '../../src/domain/run/run.ts';
import type { NewDelivery } from '../../src/ports/storage.ts';

/** A moment so many seconds into the tests' day. */
export function at(seconds: number): Date {
  return new Date(Date.UTC(2026, 0, 5, 12, 0, 0, 0) + seconds * 1_000);
}

export function delivery(guid: string, over: Partial<NewDelivery> = {}): NewDelivery {
  return {
    guid,
    event: 'pull_request',
    action: 'opened',
    installationId: 7,
    body: new TextEncoder().encode(`{"guid":"${guid}","title":"Grüße"}`),
    receivedAt: at(0),
    queueKey: 'pr:70#3',
    ...over,
  };
}

/** What the tests' chain was fired with; storage does not interpret settings. */
const settings = { noise: 'quiet' } as unknown as Settings;

export function run(id: string, over: Partial<Run> = {}): Run {
  return {
    id,
    installationId: 7,
    repositoryId: 70,
    repository: 'acme/rocket',
    pullRequest: 3,
    headSha: 'a'.repeat(40),
    baseRef: 'main',
    baseSha: 'b'.repeat(40),
    chain: 'pr-review',
    definition: {
      name: 'pr-review',
      trigger: { event: 'pr.opened', filter: {} },
      steps: [step('review', 0), step('merge', 1)],
    },
    settings,
    facts: {
      trigger: { pr_number: 3, labels: ['bug'], draft: false },
      repo: { full_name: 'acme/rocket', owner: 'acme', name: 'rocket', default_branch: 'main' },
    },
    event: {
      kind: 'pr.opened',
      installation_id: 7,
      repository: { id: 70, owner: 'acme', name: 'rocket' },
      pull_request: 3,
      action: 'opened',
    },
    deliveryId: null,
    status: 'running',
    reason: null,
    paused: false,
    createdAt: at(0),
    updatedAt: at(0),
    finishedAt: null,
    ...over,
  };
}

function step(id: string, index: number): Run['definition']['steps'][number] {
  return {
    id,
    index,
    uses: { kind: 'skill', name: id },
    dependsOn: [],
    with: { pr: '{{ trigger.pr_number }}' },
    retry: { attempts: 1, backoffMs: 0 },
    onFailure: 'fail',
    requiresApproval: false,
  };
}

export function invocation(runId: string, stepIndex: number, over: Partial<Invocation> = {}): Invocation {
  return {
    id: `${runId}-inv${stepIndex}`,
    runId,
    stepIndex,
    stepId: ['review', 'merge'][stepIndex] ?? `step${stepIndex}`,
    ...NOT_BEGUN,
    ...over,
  };
}

export function runState(id: string, over: Partial<Run> = {}): RunState {
  return { run: run(id, over), invocations: [invocation(id, 0), invocation(id, 1)] };
}

export function session(id: string, invocationId: string, over: Partial<Session> = {}): Session {
  return {
    id,
    invocationId,
    attempt: 1,
    status: 'running',
    reason: null,
    contract: null,
    verification: null,
    startedAt: at(1),
    finishedAt: null,
    ...over,
  };
}

export function approval(id: string, runId: string, over: Partial<Approval> = {}): Approval {
  return {
    id,
    runId,
    invocationId: `${runId}-inv1`,
    headSha: 'a'.repeat(40),
    baseRef: 'main',
    status: 'open',
    askedAt: at(5),
    lookedAt: null,
    watch: null,
    decision: null,
    countersignedBy: [],
    rejectedBy: [],
    answers: [],
    authorship: null,
    ...over,
  };
}

export function comment(body: string): Effect {
  return {
    kind: 'comment',
    installation_id: 7,
    owner: 'acme',
    repo: 'rocket',
    issue: 3,
    marker: '<!-- countersign:status -->',
    body,
  };
}

export const merged = makeOutcome<'action_result'>({
  outcome_kind: 'action_result',
  summary: 'Merged as abc.',
  passed: true,
  action: 'merged',
  details: { sha: 'abc', countersigned_by: ['mira'] },
});

export const completed = reason('step.completed', 'It is done.', [
  { kind: 'person', id: 'mira', label: 'Mira' },
]);
