import type { Clock } from '../../core/clock.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import { redactValue } from '../../core/redact/redact.ts';
import { type Chain, merges } from '../../domain/chain/chain.ts';
import {
  anyMerges,
  chainsCountingHeads,
  chainsForHeads,
  chainsWaitingFor,
  chainsWithPullRequestComposites,
  hasPullRequestComposite,
  holdOf,
} from '../../domain/chain/chain-list.ts';
import type { Settings } from '../../domain/chain/settings.ts';
import { mentionsPaths } from '../../domain/chain/trigger-members.ts';
import type { WriteCause } from '../../domain/effect/write-cause.ts';
import type { EventOf, RepositoryEvent } from '../../domain/event/event.ts';
import type { ReasonCode } from '../../domain/explanation/reason.ts';
import { type GateProtection, gateProtection } from '../../domain/policy/gate-check.ts';
import { type Actor, actorOf } from '../../domain/run/actor.ts';
import { newRun } from '../../domain/run/new-run.ts';
import {
  isAboutNow,
  isAboutTheHead,
  type Plan,
  type PullRequestNow,
  planRuns,
  type Reopening,
  triggerFacts,
} from '../../domain/run/plan.ts';
import { isRunOver, type Run, type RunFacts } from '../../domain/run/run.ts';
import type { Signal } from '../../domain/run/transition.ts';
import { type GitHub, GitHubError, type PullRequest, type PullRequestFile } from '../../ports/github.ts';
import type { Cause } from '../../ports/jobs.ts';
import type { PullRequestRow, ReadTx, Storage, Tx } from '../../ports/storage.ts';
import { checkConfiguration } from '../configuration/check-configuration.ts';
import type { Configuration, ConfigurationLoader, HowFresh } from '../configuration/configuration.ts';
import { causedBy } from '../effects/caused-by.ts';
import { type GateChecks, gateCheckKey } from '../effects/gate-check.ts';
import { mergeKey, ownMerge } from '../effects/merge.ts';
import type { Outbox } from '../effects/outbox.ts';
import { auditConfiguration } from './audit-configuration.ts';
import { countForComposites, type Subject } from './composites.ts';
import type { Engine } from './engine.ts';
import { type Listening, placeOfCommit, placeOfPullRequest } from './listening.ts';
import { noteRepository } from './note-repository.ts';
import { publishUnaskedGate } from './publish-gate.ts';
import { auditMergeElsewhere, isOurMerge, sawState, stateOf } from './pull-request-state.ts';
import { branchHere, governedBy, pullRequestNow, repositoryFacts, runFactsOf } from './run-facts.ts';
import { unreadableBecause } from './what-changed.ts';
import { whyNoRun } from './why-no-run.ts';

/** Wakes steps that wait for people or for a gate. */
export const RECHECK: Signal = { kind: 'wake', for: ['approval', 'until'] };

export type PullRequestEvent = EventOf<'pr.opened' | 'pr.updated' | 'pr.merged' | 'pr.closed'>;

export interface PullRequestDeps {
  storage: Storage;
  github: GitHub;
  engine: Engine;
  outbox: Outbox;
  gates: GateChecks;
  configuration: ConfigurationLoader;
  listening: Listening;
  clock: Clock;
  ids: Ids;
  log: Log;
}

/**
 * Brings a pull request's runs in line with its current state on GitHub: ends those for an older head,
 * another base, a draft or a closed pull request, and starts those that its chains require for the head.
 */
export async function onPullRequest(
  deps: PullRequestDeps,
  event: PullRequestEvent,
  cause: Cause | null,
): Promise<CountedHead | undefined> {
  const { storage, github, engine, clock } = deps;
  const deliveryId = cause?.deliveryId ?? null;
  const by = actorOf(event, deliveryId);
  if (event.kind === 'pr.merged') {
    const isOurs = await storage.transaction((tx) => onlyOurMerges(deps, tx, event, by, cause));
    if (isOurs) return undefined;
  }
  const repo = event.repository;
  const reader = github.reader(event.installation_id);
  const isOlder = ({ updatedAt }: PullRequest) =>
    'updated_at' in event && event.updated_at !== undefined && updatedAt < new Date(event.updated_at);
  const mayBeOpen = event.kind === 'pr.opened' || event.kind === 'pr.updated';
  // The same answer shows the tip of the base and the checks, which the first steps then need not ask for.
  const prefetched = mayBeOpen ? await reader.prefetched(repo, event.pull_request, {}) : undefined;
  const isShown = prefetched?.pullRequest !== undefined && !isOlder(prefetched.pullRequest);
  const pullRequest =
    isShown && prefetched.pullRequest
      ? prefetched.pullRequest
      : await reader.pullRequest(repo, event.pull_request);
  if (isOlder(pullRequest)) {
    throw new GitHubError('unavailable', 0, 'GitHub answers with an older state than its webhook told of');
  }
  const how = isShown ? { reader: prefetched.over(reader) } : {};
  const { configuration, listed } = await governing(deps, event, pullRequest, how);
  if (configuration) {
    const place = { repositoryId: event.repository.id, branch: configuration.branch };
    deps.listening.learn(place, configuration.chains);
    deps.listening.learn(placeOfCommit(event.repository.id, configuration), configuration.chains);
    deps.listening.learn(
      placeOfPullRequest(event.repository.id, event.pull_request),
      chainsWithPullRequestComposites(configuration.chains),
    );
  }
  const configurationChecks = configuration
    ? await checkConfiguration(deps, event, pullRequest, listed.files, configuration)
    : [];
  const protection =
    configuration && pullRequest.state === 'open' && isGated(configuration)
      ? await readProtection(deps, event, pullRequest.baseRef)
      : undefined;
  const { depth, root } = configuration
    ? await causedBy(storage.read, event, branchHere(pullRequest))
    : { depth: 0, root: undefined };

  return storage.transaction(async (tx) => {
    const subject = { repositoryId: event.repository.id, pullRequest: event.pull_request };
    const runs = await runsFollowing(tx, subject, pullRequest.headSha, configuration?.chains ?? []);
    const facts = repositoryFacts(event, pullRequest.defaultBranch);
    const own = pullRequest.merged
      ? await ownMerge(tx, { ...subject, headSha: pullRequest.headSha })
      : undefined;
    const now = { ...pullRequestNow(pullRequest, listed), ownMerge: own?.merge };
    const reopening = await reopeningOf(tx, event, pullRequest);
    const planned = planRuns(
      now,
      configuration?.chains ?? [],
      runs,
      facts,
      reopening,
      configuration?.held,
      configuration?.rollout,
    );
    const plan = withoutUnknown(planned, runs, configuration);
    if (own?.underWay || (pullRequest.merged && (await isHeldOpen(tx, runs))))
      await recheckMerges(deps, tx, runs, by);
    else await endRuns(deps, tx, plan, by);
    if (pullRequest.merged) await auditMergeElsewhere(tx, event, pullRequest, by);
    if (configuration) await auditConfiguration(tx, event, pullRequest.baseRef, configuration, by);
    // A protected base branch governs itself, and says nothing about the repository.
    if (configuration?.branch === pullRequest.defaultBranch)
      await noteRepository(tx, event, configuration, clock.now());
    const row = await tx.pullRequests.get(event.repository.id, event.pull_request);
    await tx.pullRequests.upsert(
      {
        repositoryId: event.repository.id,
        number: event.pull_request,
        repository: facts.full_name,
        installationId: event.installation_id,
        pausedBy: row?.pausedBy ?? null,
        ...headsSeen(row, pullRequest.headSha, clock.now()),
        updatedAt: clock.now(),
        about: { title: redactValue(pullRequest.title), author: pullRequest.author },
      },
      { state: stateOf(pullRequest), at: clock.now() },
    );
    if (protection) {
      await tx.gateProtections.put(event.repository.id, pullRequest.baseRef, {
        protection,
        readAt: clock.now(),
      });
    }
    for (const chain of plan.begin) {
      if (!configuration) continue;
      const state = newRun(
        {
          chain,
          settings: configuration.settings,
          event,
          deliveryId,
          pullRequest: pullRequest.number,
          headSha: pullRequest.headSha,
          baseRef: pullRequest.baseRef,
          baseSha: configuration.sha,
          facts: {
            ...runFactsOf(event, pullRequest, facts, pathsFor(chain, configuration.settings, now)),
            ...governedBy(configuration, chain),
            ...(depth > 0 && { depth }),
            ...(root !== undefined && { root }),
          },
          paused: (row?.pausedBy ?? null) !== null,
        },
        deps.ids,
        clock.now(),
      );
      await engine.begin(tx, state);
    }
    const isCounted = configuration !== undefined && countsHead(event, pullRequest, row);
    const known = { pullRequest, now, facts, depth, root };
    const begun = [
      ...plan.begin,
      ...(isCounted ? await countHead(deps, tx, event, deliveryId, { ...known, configuration }) : []),
    ];
    await closeUnaskedGate(deps, tx, event, pullRequest, { plan, begun, runs, configuration, now, facts });
    await wakeRemaining(deps, tx, plan, runs, by);
    await requestAgain(deps, tx, event);
    for (const { key, effect } of configurationChecks) {
      await deps.outbox.request(tx, key, effect, {
        runId: null,
        at: clock.now(),
        cause: causeOf(event, pullRequest),
      });
    }
    const counted = isCounted ? { pullRequest, configuration } : undefined;
    if (counted && waitsForChecks(counted)) return counted;
    await cause?.end?.(tx);
    return undefined;
  });
}

/** A head that composites counted, some of which also wait for checks. */
export interface CountedHead {
  pullRequest: PullRequest;
  configuration: Configuration;
}

function waitsForChecks({ configuration: { chains, held } }: CountedHead): boolean {
  return chainsWaitingFor(chains, 'ci.changed').some(
    (chain) => hasPullRequestComposite(chain) && !holdOf(held, chain.name),
  );
}

/** Webhooks that report a head for the first time, or that the pull request is open for review again. */
const HEAD_ACTIONS: readonly string[] = ['opened', 'synchronize'];
const AGAIN_ACTIONS: readonly string[] = ['reopened', 'ready_for_review'];

type HeadEvent = EventOf<'pr.opened' | 'pr.updated'>;

function countsHead(
  event: PullRequestEvent,
  { state, headSha }: PullRequest,
  row: PullRequestRow | undefined,
): event is HeadEvent {
  if ((event.kind !== 'pr.opened' && event.kind !== 'pr.updated') || state === 'closed') return false;
  const { action } = event;
  return AGAIN_ACTIONS.includes(action) || HEAD_ACTIONS.includes(action) || row?.headSha !== headSha;
}

/**
 * Counts a head for composites: once, when it is first seen, and once for each time that the pull request is reopened or
 * ready for review. A run of its own follows the state of the pull request; a part is a moment.
 */
async function countHead(
  deps: PullRequestDeps,
  tx: Tx,
  event: HeadEvent,
  deliveryId: number | null,
  known: {
    pullRequest: PullRequest;
    configuration: Configuration;
    now: PullRequestNow;
    facts: RunFacts['repo'];
    depth: number;
    root: string | undefined;
  },
): Promise<Chain[]> {
  const { pullRequest, configuration, now, facts, depth, root } = known;
  const { headSha, baseRef, defaultBranch, number } = pullRequest;
  const isAgain = AGAIN_ACTIONS.includes(event.action);
  const { held, chains } = configuration;
  const counted = chainsCountingHeads(chains).filter(({ name }) => !holdOf(held, name));
  const paths = counted.map((chain) => pathsFor(chain, configuration.settings, now)).find((list) => list);
  const { trigger } = runFactsOf(event, pullRequest, facts, paths);
  const subject: Subject = {
    pullRequest: number,
    headSha,
    baseRef,
    defaultBranch,
    trigger,
    facts: { pull_request: triggerFacts(now) },
  };
  return countForComposites(deps, tx, {
    event,
    deliveryId,
    depth,
    root,
    configuration,
    chains: counted,
    repository: facts,
    of: `#${number} ${headSha} ${isAgain ? `${event.action} ${event.updated_at}` : 'head'}`,
    alone: subject,
    inPullRequest: subject,
  });
}

/**
 * The unfinished runs of a pull request and the newest of each chain. The newest run of a chain with several triggers
 * may be about something that happened once, and hide the one for the head.
 */
export async function runsFollowing(
  tx: ReadTx,
  subject: { repositoryId: number; pullRequest: number },
  headSha: string,
  chains: readonly Chain[],
): Promise<Run[]> {
  const runs = await tx.runs.current(subject);
  const hidden = new Map<string, Run>();
  for (const chain of chainsForHeads(chains)) {
    const newest = runs.find((run) => run.chain === chain.name);
    if (!newest || isAboutTheHead(newest)) continue;
    const ofHead = await tx.runs.list({ ...subject, headSha, chain: chain.name });
    for (const run of ofHead.filter(isAboutTheHead)) hidden.set(run.id, run);
  }
  const known = new Set(runs.map(({ id }) => id));
  return [...runs, ...[...hidden.values()].filter(({ id }) => !known.has(id))];
}

/**
 * An unreadable chain may still apply to the pull request, so its run is blocked and continues once the chain
 * can be read.
 */
function withoutUnknown(plan: Plan, runs: readonly Run[], configuration: Configuration | undefined): Plan {
  const isUnreadable = (runId: string) => {
    const run = runs.find(({ id }) => id === runId);
    return run && configuration && unreadableBecause(run.chain, configuration) !== undefined;
  };
  const isUnknown = ({ runId, reason }: Plan['cancel'][number]) =>
    reason.code === 'run.cancelled.not_triggered' && isUnreadable(runId);
  return { ...plan, cancel: plan.cancel.filter((end) => !isUnknown(end)) };
}

/**
 * Whether pull requests under this configuration need a countersign: some chain merges, or an unreadable one
 * may.
 */
function isGated({ chains, broken }: Configuration): boolean {
  return broken.length > 0 || anyMerges(chains);
}

/**
 * How long a branch's requirements are cached, in milliseconds. They are only shown to people, and no
 * decision depends on them.
 */
const PROTECTION_TTL_MS = 600_000;

async function readProtection(
  { storage, github, clock }: PullRequestDeps,
  { installation_id, repository }: PullRequestEvent,
  baseRef: string,
): Promise<GateProtection | undefined> {
  const known = await storage.read.gateProtections.get(repository.id, baseRef);
  if (known && clock.now().getTime() - known.readAt.getTime() < PROTECTION_TTL_MS) return undefined;
  try {
    const required = await github.reader(installation_id).requiredChecks(repository, baseRef);
    return gateProtection(required, baseRef, github.appId);
  } catch (error) {
    // Only shown to people, so nothing waits for it.
    if (error instanceof GitHubError) return undefined;
    throw error;
  }
}

/**
 * GitHub does not explain why a required check is missing. So an open pull request has a gate check as soon
 * as its branch has a chain that merges, even if none of them applies to it. A check that an earlier pull
 * request with the same head and base left green is closed.
 */
async function closeUnaskedGate(
  { gates, clock }: PullRequestDeps,
  tx: Tx,
  event: PullRequestEvent,
  pullRequest: PullRequest,
  known: {
    plan: Plan;
    begun: readonly Chain[];
    runs: readonly Run[];
    configuration: Configuration | undefined;
    now: PullRequestNow;
    facts: RunFacts['repo'];
  },
): Promise<void> {
  const { plan, begun, runs, configuration, now, facts } = known;
  if (pullRequest.state !== 'open') return;
  const ended = new Set(plan.cancel.map(({ runId }) => runId));
  const isAsked =
    begun.some(merges) ||
    runs.some((run) => merges(run.definition) && isAboutNow(run, pullRequest) && !ended.has(run.id));
  if (isAsked) return;
  const { id: repositoryId } = event.repository;
  const { headSha, baseRef } = pullRequest;
  const isThere = await tx.effects.get(gateCheckKey(repositoryId, headSha, baseRef));
  if (!isThere && !(configuration && isGated(configuration))) return;
  await publishUnaskedGate(
    gates,
    tx,
    {
      installationId: event.installation_id,
      repository: facts.full_name,
      repositoryId,
      pullRequest: pullRequest.number,
      headSha,
      baseRef,
    },
    whyNoRun(now, configuration, facts),
    clock.now(),
  );
}

function causeOf({ repository, pull_request }: PullRequestEvent, { author }: PullRequest): WriteCause {
  return { person: author.login, pullRequest: `${repository.id}#${pull_request}` };
}

/** The other facts for choosing chains. Not read for a closed pull request, for which no chain starts. */
export async function governing(
  { github, configuration }: { github: Pick<GitHub, 'reader'>; configuration: ConfigurationLoader },
  { installation_id, repository }: Pick<RepositoryEvent, 'installation_id' | 'repository'>,
  { number, state, ...base }: PullRequest,
  how: HowFresh = {},
): Promise<{
  configuration: Configuration | undefined;
  listed: { files: PullRequestFile[]; truncated: boolean };
}> {
  if (state === 'closed') return { configuration: undefined, listed: { files: [], truncated: false } };
  return {
    configuration: await configuration.forPullRequest(installation_id, repository, base, how),
    listed: await github.reader(installation_id).pullRequestFiles(repository, number),
  };
}

/**
 * Whether every unfinished run of the pull request is merging it now, or a finished one has: then GitHub only
 * reports our own merge. The session that merges records it; in case it crashed with GitHub's answer, it is
 * woken.
 */
export async function onlyOurMerges(
  { engine, clock }: Pick<PullRequestDeps, 'engine' | 'clock'>,
  tx: Tx,
  event: PullRequestEvent,
  by: Actor,
  cause: Pick<Cause, 'end'> | null,
): Promise<boolean> {
  const unfinished = await tx.runs.list({
    repositoryId: event.repository.id,
    pullRequest: event.pull_request,
    active: true,
  });
  for (const run of unfinished) {
    if (!(await expectsMerge(tx, run))) return false;
  }
  if (unfinished.length === 0 && !(await isOurMerge(tx, event))) return false;
  await sawState(tx, event, { merged: true, state: 'closed' }, clock.now());
  for (const run of unfinished) await engine.signal(tx, run.id, RECHECK, by);
  await cause?.end?.(tx);
  return true;
}

/**
 * Whether the run has requested the merge: it began the merge call, or it holds the gate open for people,
 * auto-merge or the merge queue.
 */
async function expectsMerge(tx: Tx, run: Run): Promise<boolean> {
  const merging = await tx.effects.get(mergeKey(run.id, run.headSha));
  if (merging?.begun) return true;
  const gate = await tx.effects.get(gateCheckKey(run.repositoryId, run.headSha, run.baseRef));
  return gate?.progress.passed?.run_id === run.id;
}

/**
 * Whether a run holds the gate open, so that a merge by a person, auto-merge or the merge queue belongs to
 * it.
 */
async function isHeldOpen(tx: Tx, runs: readonly Run[]): Promise<boolean> {
  for (const run of runs) {
    if (!isRunOver(run.status) && (await expectsMerge(tx, run))) return true;
  }
  return false;
}

export async function reopeningOf(
  tx: ReadTx,
  event: PullRequestEvent,
  { headSha, baseRef }: PullRequest,
): Promise<Reopening | undefined> {
  if (event.kind !== 'pr.updated' || event.action !== 'reopened' || !event.updated_at) return undefined;
  const answered = await tx.approvals.answered({
    repositoryId: event.repository.id,
    pullRequest: event.pull_request,
    headSha,
    baseRef,
  });
  const rejected = answered.filter(({ approval }) => approval.status === 'rejected');
  return { at: event.updated_at, rejected: new Set(rejected.map(({ chain }) => chain)) };
}

async function endRuns(deps: PullRequestDeps, tx: Tx, plan: Plan, by: Actor): Promise<void> {
  for (const { runId, reason } of plan.cancel) {
    await deps.engine.signal(tx, runId, { kind: 'end', status: 'cancelled', reason }, by);
  }
}

/**
 * GitHub's event about our own merge can arrive before its answer to us. The session that merges records the
 * merge and then has the pull request processed again, because only then is it known who merged. In case it
 * crashed with the answer, it is woken.
 */
async function recheckMerges(deps: PullRequestDeps, tx: Tx, runs: readonly Run[], by: Actor): Promise<void> {
  for (const { id, headSha, status } of runs) {
    const isMerging = !isRunOver(status) && (await tx.effects.get(mergeKey(id, headSha)))?.begun;
    if (isMerging) await deps.engine.signal(tx, id, RECHECK, by);
  }
}

/** Any event of a pull request wakes its open approvals and waiting gates. */
async function wakeRemaining(
  deps: PullRequestDeps,
  tx: Tx,
  plan: Plan,
  runs: readonly Run[],
  by: Actor,
): Promise<void> {
  const ended = new Set(plan.cancel.map(({ runId }) => runId));
  for (const run of runs) {
    if (!['waiting_approval', 'waiting_until'].includes(run.status) || ended.has(run.id)) continue;
    await deps.engine.signal(tx, run.id, RECHECK, by);
  }
}

/** Reasons for which a run could not show its end on GitHub. */
const UNREACHABLE: readonly (ReasonCode | undefined)[] = [
  'run.aborted.installation_gone',
  'run.aborted.repository_gone',
  'run.aborted.shut_out',
];

/**
 * When the app lost access, its comments and check runs stayed in their last state. Now that GitHub answers
 * again, the run's final state is requested, at the current location of the pull request and installation.
 * Effects that never existed are not created.
 */
async function requestAgain(
  { outbox, clock }: PullRequestDeps,
  tx: Tx,
  { installation_id, repository, pull_request }: PullRequestEvent,
): Promise<void> {
  const runs = await tx.runs.list({
    repositoryId: repository.id,
    pullRequest: pull_request,
    status: 'aborted',
  });
  const place = { installation_id, owner: repository.owner, repo: repository.name };
  for (const run of runs.filter(({ reason }) => UNREACHABLE.includes(reason?.code))) {
    for (const { key, effect, status, begun } of await tx.effects.ofRun(run.id)) {
      if (status !== 'failed' || !begun || effect.kind === 'merge' || effect.kind === 'enqueue') continue;
      await outbox.request(
        tx,
        key,
        { ...effect, ...place },
        { runId: run.id, at: clock.now(), retryNow: true },
      );
    }
  }
}

/**
 * The current head with its time, and the previous one: a command does not apply to a head that arrived after
 * it.
 */
function headsSeen(
  row: PullRequestRow | undefined,
  headSha: string,
  now: Date,
): Pick<PullRequestRow, 'headSha' | 'previousHeadSha' | 'headSeenAt'> {
  if (row?.headSha === headSha) {
    const { previousHeadSha, headSeenAt } = row;
    return { headSha, previousHeadSha, headSeenAt };
  }
  return { headSha, previousHeadSha: row?.headSha ?? null, headSeenAt: now };
}

/** The changed files, if a run of the chain needs them: a run keeps what it reads, and the list can be long. */
function pathsFor(
  chain: Chain,
  { gates }: Pick<Settings, 'gates'>,
  { changedPaths }: Pick<PullRequestNow, 'changedPaths'>,
): readonly string[] | undefined {
  return mentionsPaths(chain, gates) ? changedPaths : undefined;
}
