import type { Chain } from '../chain/chain.ts';
import { chainNamed, chainsForHeads, holdOf } from '../chain/chain-list.ts';
import type { HeldChain } from '../chain/stored.ts';
import { type TriggerFacts, type TriggerMatch, triggerMatches } from '../chain/trigger.ts';
import { followsPullRequest, nameOfTrigger, triggersOf } from '../chain/trigger-schema.ts';
import { type Reason, reason } from '../explanation/reason.ts';
import { isLower, levelOf, type Rollout, rolloutInWords } from '../policy/rollout.ts';
import { OPERATOR } from './actor.ts';
import { isRunOver, type Run } from './run.ts';

/** A pull request as GitHub currently has it. */
export interface PullRequestNow {
  number: number;
  state: 'open' | 'closed';
  merged: boolean;
  /** This app's merge of it, if there was one. */
  ownMerge?: OwnMerge | undefined;
  draft: boolean;
  headSha: string;
  headRef: string;
  baseRef: string;
  author: string;
  authorAssociation?: string;
  title?: string;
  body?: string;
  labels: string[];
  /** `undefined` if GitHub did not list them all; a filter on paths then does not match. */
  changedPaths: string[] | undefined;
}

export interface Plan {
  cancel: { runId: string; reason: Reason }[];
  begin: Chain[];
}

/** A person reopened the pull request, which asks for a new run after the previous one ended. */
export interface Reopening {
  /** The time of reopening, from GitHub's payload. */
  at: string;
  /**
   * Chains in which a maintainer rejected this head and base, in any run. The author can reopen, and must not
   * cause a new approval comment only by that. Another commit or base needs another approval, even if the
   * pull request returns to this one.
   */
  rejected: ReadonlySet<string>;
}

/**
 * Which runs to cancel and begin. Decided by the current state of the pull request and not by the event, so
 * that late, duplicate and reordered deliveries lead to the same runs. Only a reopening is not visible in the
 * state. If its delivery comes again, the run that it began is recognised by its own event.
 * @param runs all unfinished ones, and the newest of each chain that follows the head; newest first
 * @param held chains that start no run; their runs that have begun go on
 * @param rollout once it is raised, a run that began with a lower level is replaced
 */
export function planRuns(
  pullRequest: PullRequestNow,
  chains: readonly Chain[],
  runs: readonly Run[],
  repository: { full_name: string; default_branch: string; owner: string; name: string },
  reopening?: Reopening,
  held: readonly HeldChain[] = [],
  rollout?: Rollout,
): Plan {
  const cancel = runs.flatMap((run) => {
    const reason = isRunOver(run.status)
      ? undefined
      : outdatedBecause(run, pullRequest, chains, repository, rollout);
    return reason ? [{ runId: run.id, reason }] : [];
  });
  const cancelled = new Set(cancel.map(({ runId }) => runId));
  const known = { runs, cancelled, repository, reopening, held, rollout };
  const begin = chainsForHeads(chains).filter((chain) => decideForHead(chain, pullRequest, known).begins);
  return { cancel, begin };
}

/** Whether a chain begins a run, or why not. */
export type Decision = { begins: true } | Declined;

/** The chain begins no run. */
export type Declined = { begins: false } & (
  | { why: 'other_event' | 'not_triggered' | 'closed' | 'too_deep' | 'too_many'; because: string }
  | { why: 'held'; hold: HeldChain }
  /** Without an id, that run was deleted. */
  | { why: 'has_run'; runId?: string }
);

/** What a chain makes of a pull request in its current state. */
export function decideForHead(
  chain: Chain,
  pullRequest: PullRequestNow,
  known: {
    /** Newest first. */
    runs: readonly Run[];
    /** Ids of those that the pull request ends now. */
    cancelled: ReadonlySet<string>;
    repository: Parameters<typeof planRuns>[3];
    reopening?: Reopening | undefined;
    held: readonly HeldChain[];
    rollout?: Rollout | undefined;
  },
): Decision {
  const { runs, cancelled, repository, reopening, held, rollout } = known;
  if (pullRequest.state === 'closed')
    return { begins: false, why: 'closed', because: 'the pull request is closed' };
  const hold = holdOf(held, chain.name);
  if (hold) return { begins: false, why: 'held', hold };
  const triggers = triggersOf(chain);
  if (!triggers.some(followsPullRequest)) {
    const because = `it waits for ${[...new Set(triggers.map(nameOfTrigger))].join(' or ')}`;
    return { begins: false, why: 'other_event', because };
  }
  const match = pullRequestMatches(chain, { repository, pull_request: triggerFacts(pullRequest) });
  if (!match.matches) return { begins: false, why: 'not_triggered', because: match.because };
  const newest = runs.find((run) => run.chain === chain.name && isAboutTheHead(run));
  const speaksForThisHead =
    newest !== undefined &&
    !cancelled.has(newest.id) &&
    isAboutNow(newest, pullRequest) &&
    !isRaised(newest, rollout) &&
    !(reopening && restartsOnReopening(newest, reopening));
  return speaksForThisHead ? { begins: false, why: 'has_run', runId: newest.id } : { begins: true };
}

/** Whether a chain triggered by pull requests matches this one in its current state. */
export function fires(
  chain: Chain,
  pullRequest: PullRequestNow,
  repository: Parameters<typeof planRuns>[3],
): boolean {
  return pullRequestMatches(chain, { repository, pull_request: triggerFacts(pullRequest) }).matches;
}

/** The same, with the reason why not. */
function pullRequestMatches(chain: Chain, facts: Omit<TriggerFacts, 'event'>): TriggerMatch {
  const following = triggersOf(chain).filter(followsPullRequest);
  const opens = following.some(({ event }) => event === 'pr.opened');
  return triggerMatches(
    { ...chain, trigger: following },
    { ...facts, event: opens ? 'pr.opened' : 'pr.updated' },
  );
}

/** The pull request in the terms of triggers. */
export function triggerFacts(pullRequest: PullRequestNow): NonNullable<TriggerFacts['pull_request']> {
  return {
    number: pullRequest.number,
    base: pullRequest.baseRef,
    head: pullRequest.headRef,
    draft: pullRequest.draft,
    author: pullRequest.author,
    labels: pullRequest.labels,
    ...(pullRequest.authorAssociation !== undefined && { association: pullRequest.authorAssociation }),
    ...(pullRequest.title !== undefined && { title: pullRequest.title }),
    ...(pullRequest.body !== undefined && { body: pullRequest.body }),
    ...(pullRequest.changedPaths ? { changed_paths: pullRequest.changedPaths } : {}),
  };
}

/** Why a run is outdated and must be cancelled; `undefined` if it may continue. */
export function outdatedBecause(
  run: Run,
  now: PullRequestNow,
  chains: readonly Chain[],
  repository: Parameters<typeof planRuns>[3],
  rollout?: Rollout,
): Reason | undefined {
  if (!isAboutTheHead(run)) return undefined;
  if (now.merged) {
    const { ownMerge } = now;
    // A step of it merged, and it goes on.
    if (ownMerge?.above?.includes(run.id)) return undefined;
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
  if (rollout?.level === 'off') return reason('run.cancelled.rollout', rolloutInWords(rollout));
  if (run.event.kind === 'manual.fired') return undefined;
  // A run of the new level takes its place.
  if (rollout && isRaised(run, rollout))
    return reason(
      'run.cancelled.rollout',
      `${rolloutInWords(rollout)}, and was ${levelOf(run)} when the run began`,
    );
  const chain = chainNamed(chains, run.chain);
  if (chain && fires(chain, now, repository)) return undefined;
  return now.draft && fires(run.definition, { ...now, draft: false }, repository)
    ? reason('run.cancelled.draft', 'the pull request is a draft now')
    : reason('run.cancelled.not_triggered', 'its chain is not for this pull request any more');
}

/** The reason of a run that is replaced because a person started the same chain again for the same head. */
export function newerRun(newer: Pick<Run, 'id' | 'chain'>, by: string): Reason {
  return reason('run.cancelled.newer_run', `replaced by a newer run of ${newer.chain}, started by ${by}`, [
    { kind: 'run', id: newer.id, label: newer.chain },
    // An operator has no name on GitHub.
    ...(by === OPERATOR ? [] : [{ kind: 'person', id: by, label: by } as const]),
  ]);
}

/** A merge by this app. */
export interface OwnMerge {
  runId: string;
  chain: string;
  headSha: string;
  countersignedBy: readonly string[];
  /** The runs of which the merging one is a step, or a step of a step. */
  above?: readonly string[];
}

/** The reason of all other runs of a pull request that a chain merged. */
export function mergedByChain({ runId, chain, countersignedBy }: OwnMerge): Reason {
  const by = countersignedBy.length === 0 ? '' : `, countersigned by ${countersignedBy.join(', ')}`;
  return reason('run.cancelled.merged_by_chain', `the chain ${chain} merged the pull request${by}`, [
    { kind: 'run', id: runId, label: chain },
    ...countersignedBy.map((login) => ({ kind: 'person', id: login, label: login }) as const),
  ]);
}

/**
 * Whether the run is its chain's own for a head. Runs of chains triggered by a merge, a close or a push continue whatever
 * happens to the pull request. A run that is a step of another ends with that one, and is not its chain's own.
 */
export function isAboutTheHead(run: Run): boolean {
  if (run.facts.parent) return false;
  if (run.event.kind === 'manual.fired') return true;
  const [first, ...more] = triggersOf(run.definition);
  if (more.length > 0) return run.facts.fired === undefined;
  return first !== undefined && followsPullRequest(first);
}

/** Whether the rollout is higher than when the run began. */
function isRaised(run: Run, rollout: Rollout | undefined): boolean {
  return rollout !== undefined && isLower(levelOf(run), rollout.level);
}

/** Whether the run's result or progress applies to the pull request in its current state. */
export function isAboutNow(run: Run, now: Pick<PullRequestNow, 'headSha' | 'baseRef'>): boolean {
  return run.headSha === now.headSha && run.baseRef === now.baseRef && !endedByCircumstance(run);
}

/**
 * Cancelled by a change of the pull request, not by a person. If that change is undone, the chain fires
 * again.
 */
function endedByCircumstance(run: Run): boolean {
  if (run.status === 'aborted') return true;
  return run.status === 'cancelled' && run.reason?.code !== 'run.cancelled.by_person';
}

/** Ended, begun before the reopening, and not rejected. Compares GitHub's times if available, because clocks differ. */
function restartsOnReopening(run: Run, { at, rejected }: Reopening): boolean {
  const lastUpdated = ('updated_at' in run.event && run.event.updated_at) || run.createdAt.toISOString();
  return isRunOver(run.status) && !rejected.has(run.chain) && new Date(lastUpdated) < new Date(at);
}
