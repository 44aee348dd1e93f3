import type { Chain } from '../chain/chain.ts';
import { type TriggerFacts, triggerMatches } from '../chain/trigger.ts';
import { type Reason, reason } from '../explanation/reason.ts';
import { OPERATOR } from './actor.ts';
import { isRunOver, type Run } from './run.ts';

/** A pull request as GitHub has it now. */
export interface PullRequestNow {
  number: number;
  state: 'open' | 'closed';
  merged: boolean;
  /** The merge that this app made of it, if it did. */
  ownMerge?: OwnMerge | undefined;
  draft: boolean;
  headSha: string;
  headRef: string;
  baseRef: string;
  author: string;
  labels: string[];
  /** `undefined` when GitHub did not list them all; a filter on paths then does not match. */
  changedPaths: string[] | undefined;
}

export interface Plan {
  cancel: { runId: string; reason: Reason }[];
  begin: Chain[];
}

/** Somebody reopened the pull request, and so asks for another look at what had ended before. */
export interface Reopening {
  /** GitHub's time of it, as in its payloads. */
  at: string;
  /**
   * Chains in which a maintainer rejected this head and base, in whichever run: the author can reopen, and must not have people asked
   * anew by that alone. Another commit, or another base, is another question, also when the pull request comes back from it.
   */
  rejected: ReadonlySet<string>;
}

/**
 * What should happen to a pull request's runs, told by what the pull request is now and not by the event that made us
 * look. Late, doubled and swapped deliveries therefore lead to the same runs. Only that it was reopened cannot be seen of it
 * afterwards; the run that this began is told by its own event, should the delivery come again.
 * @param runs those that are not over, and the newest of each chain; newest first
 */
export function planRuns(
  pullRequest: PullRequestNow,
  chains: readonly Chain[],
  runs: readonly Run[],
  repository: { full_name: string; default_branch: string; owner: string; name: string },
  reopening?: Reopening,
): Plan {
  const plan: Plan = { cancel: [], begin: [] };
  for (const run of runs) {
    if (isRunOver(run.status)) continue;
    const because = outdatedBecause(run, pullRequest, chains, repository);
    if (because) plan.cancel.push({ runId: run.id, reason: because });
  }
  if (pullRequest.state === 'closed') return plan;
  const wanted = chains.filter((chain) => fires(chain, pullRequest, repository));
  const cancelled = new Set(plan.cancel.map(({ runId }) => runId));
  for (const chain of wanted) {
    const newest = runs.find((run) => run.chain === chain.name);
    const speaksForThisHead =
      newest !== undefined &&
      !cancelled.has(newest.id) &&
      isAboutNow(newest, pullRequest) &&
      !(reopening && isAskedAgain(newest, reopening));
    if (!speaksForThisHead) plan.begin.push(chain);
  }
  return plan;
}

/** Whether a chain that waits for pull requests is for this one as it is now. */
export function fires(
  chain: Chain,
  pullRequest: PullRequestNow,
  repository: Parameters<typeof planRuns>[3],
): boolean {
  if (chain.trigger.event !== 'pr.opened' && chain.trigger.event !== 'pr.updated') return false;
  const { matches } = triggerMatches(chain, {
    event: chain.trigger.event,
    repository,
    pull_request: triggerFacts(pullRequest),
  });
  return matches;
}

/** The pull request in the terms triggers use. */
export function triggerFacts(pullRequest: PullRequestNow): NonNullable<TriggerFacts['pull_request']> {
  return {
    number: pullRequest.number,
    base: pullRequest.baseRef,
    head: pullRequest.headRef,
    draft: pullRequest.draft,
    author: pullRequest.author,
    labels: pullRequest.labels,
    ...(pullRequest.changedPaths ? { changed_paths: pullRequest.changedPaths } : {}),
  };
}

/** Why a run, were it to go on, would be about something that is no more; `undefined` when it may go on. */
export function outdatedBecause(
  run: Run,
  now: PullRequestNow,
  chains: readonly Chain[],
  repository: Parameters<typeof planRuns>[3],
): Reason | undefined {
  if (!isAboutTheHead(run)) return undefined;
  if (now.merged) {
    const { ownMerge } = now;
    return ownMerge?.headSha === now.headSha
      ? mergedByChain(ownMerge)
      : reason('run.cancelled.merged_elsewhere', 'the pull request was merged by hand');
  }
  if (now.state === 'closed') return reason('run.cancelled.closed', 'the pull request was closed');
  if (run.headSha !== now.headSha) {
    const head = now.headSha.slice(0, 7);
    return reason('run.cancelled.superseded', `superseded by a newer push (${head})`, [
      { kind: 'commit', id: now.headSha, label: head },
    ]);
  }
  if (run.baseRef !== now.baseRef) {
    return reason('run.cancelled.retargeted', `the base changed from ${run.baseRef} to ${now.baseRef}`);
  }
  if (run.event.kind === 'manual.fired') return undefined;
  if (chains.some((chain) => chain.name === run.chain && fires(chain, now, repository))) return undefined;
  return now.draft && fires(run.definition, { ...now, draft: false }, repository)
    ? reason('run.cancelled.draft', 'the pull request is a draft now')
    : reason('run.cancelled.not_triggered', 'its chain is not for this pull request any more');
}

/** Why a run gives way: somebody had the same chain begin again, and the head is as it was. */
export function newerRun(newer: Pick<Run, 'id' | 'chain'>, by: string): Reason {
  return reason('run.cancelled.newer_run', `superseded by a newer run of ${newer.chain}, begun by ${by}`, [
    { kind: 'run', id: newer.id, label: newer.chain },
    // Whoever acts from the command line has no name on GitHub.
    ...(by === OPERATOR ? [] : [{ kind: 'person', id: by, label: by } as const]),
  ]);
}

/** A merge that this app made. */
export interface OwnMerge {
  runId: string;
  chain: string;
  headSha: string;
  countersignedBy: readonly string[];
}

/** Why every other run of a pull request ends once a chain has merged it. */
export function mergedByChain({ runId, chain, countersignedBy }: OwnMerge): Reason {
  const by = countersignedBy.length === 0 ? '' : `, countersigned by ${countersignedBy.join(', ')}`;
  return reason('run.cancelled.merged_by_chain', `the chain ${chain} merged the pull request${by}`, [
    { kind: 'run', id: runId, label: chain },
    ...countersignedBy.map((login) => ({ kind: 'person', id: login, label: login }) as const),
  ]);
}

/** What waits for a merge, a close or a push goes on whatever becomes of the pull request. */
export function isAboutTheHead(run: Run): boolean {
  const { event } = run.definition.trigger;
  return event === 'pr.opened' || event === 'pr.updated' || run.event.kind === 'manual.fired';
}

/** Whether what the run came to, or is at, says something of the pull request as it is now. */
export function isAboutNow(run: Run, now: Pick<PullRequestNow, 'headSha' | 'baseRef'>): boolean {
  return run.headSha === now.headSha && run.baseRef === now.baseRef && !endedByCircumstance(run);
}

/** Cancelled by what happened to the pull request, not by a person: if that is undone, the chain fires again. */
function endedByCircumstance(run: Run): boolean {
  if (run.status === 'aborted') return true;
  return run.status === 'cancelled' && run.reason?.code !== 'run.cancelled.by_person';
}

/** Over, and begun before the reopening. By GitHub's times where there are some: clocks differ. */
function isAskedAgain(run: Run, { at, rejected }: Reopening): boolean {
  const asOf = ('updated_at' in run.event && run.event.updated_at) || run.createdAt.toISOString();
  return isRunOver(run.status) && !rejected.has(run.chain) && new Date(asOf) < new Date(at);
}
