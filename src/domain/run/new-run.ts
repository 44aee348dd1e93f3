import type { Ids } from '../../core/ids.ts';
import { redactValue } from '../../core/redact/redact.ts';
import type { Chain } from '../chain/chain.ts';
import { defaultInputs, type InputValues } from '../chain/chain-inputs.ts';
import type { Settings } from '../chain/settings.ts';
import type { RepositoryEvent } from '../event/event.ts';
import { childrenAmong, rootOf } from './child.ts';
import { type Invocation, NOT_BEGUN, type Run, type RunFacts, type RunState } from './run.ts';

export interface NewRun {
  /** Left out: a new id. */
  id?: string;
  chain: Chain;
  settings: Settings;
  event: RepositoryEvent;
  deliveryId: number | null;
  pullRequest: number | null;
  headSha: string;
  baseRef: string;
  baseSha: string;
  facts: RunFacts;
  paused: boolean;
}

/**
 * A run that has not started, with a snapshot of its definition and settings and a pending invocation per
 * step. Titles, labels and inputs are redacted. Commits and branches are kept unchanged, because the merge
 * gate compares them.
 */
export function newRun(from: NewRun, ids: Ids, now: Date): RunState {
  const { chain, event } = from;
  const run: Run = {
    id: from.id ?? ids.next('run'),
    installationId: event.installation_id,
    repositoryId: event.repository.id,
    repository: `${event.repository.owner}/${event.repository.name}`,
    pullRequest: from.pullRequest,
    headSha: from.headSha,
    baseRef: from.baseRef,
    baseSha: from.baseSha,
    chain: chain.name,
    definition: structuredClone(chain),
    settings: structuredClone(from.settings),
    facts: {
      ...from.facts,
      trigger: redactValue(from.facts.trigger),
      ...(chain.inputs && { inputs: redactValue(from.facts.inputs ?? defaultInputs(chain.inputs)) }),
    },
    event: redactValue(event),
    deliveryId: from.deliveryId,
    status: 'running',
    reason: null,
    paused: from.paused,
    createdAt: now,
    updatedAt: now,
    finishedAt: null,
  };
  const invocations = chain.steps.map(
    (step): Invocation => ({
      id: ids.next('inv'),
      runId: run.id,
      stepIndex: step.index,
      stepId: step.id,
      ...NOT_BEGUN,
    }),
  );
  return { run, invocations };
}

/**
 * A run of another chain that is a step of a run. It has the event, the commits and the settings of that run, so it is trusted
 * as that one is, and asks the same people.
 * @param from `members`: as `trigger.input_<key>`, for a chain that declares no inputs
 */
export function newChildRun(
  from: {
    id: string;
    parent: Run;
    step: string;
    chain: Chain;
    values: InputValues;
    members: Readonly<Record<string, string>>;
  },
  ids: Ids,
  now: Date,
): RunState {
  const { id, parent, step, chain, values, members } = from;
  const { repo, trigger, governed, heard, rollout, broughtBy, depth = 0, parent: above } = parent.facts;
  const among = childrenAmong(parent);
  const given = Object.entries(trigger).filter(([key]) => !key.startsWith('input_'));
  const facts: RunFacts = {
    repo,
    trigger: { ...Object.fromEntries(given), ...members },
    inputs: values,
    ...(governed && { governed }),
    ...(heard && { heard }),
    ...(rollout && { rollout }),
    ...(broughtBy && { broughtBy }),
    depth: depth + 1,
    root: rootOf(parent),
    parent: {
      run: parent.id,
      chain: parent.chain,
      step,
      above: above ? [above.run, ...above.above] : [],
      ...(among > 1 && { among }),
    },
  };
  // Only events of a repository begin runs.
  const event = parent.event as RepositoryEvent;
  const { run, invocations } = newRun({ ...parent, id, chain, event, facts }, ids, now);
  // The event has the name that the repository had.
  return {
    run: { ...run, repository: parent.repository, installationId: parent.installationId },
    invocations,
  };
}
