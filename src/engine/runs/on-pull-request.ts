import type { Clock } from '../../core/clock.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import { merges } from '../../domain/chain/chain.ts';
import type { WriteCause } from '../../domain/effect/write-cause.ts';
import type { EventOf, RepositoryEvent } from '../../domain/event/event.ts';
import type { ReasonCode } from '../../domain/explanation/reason.ts';
import { type GateProtection, gateProtection } from '../../domain/policy/gate-check.ts';
import { type Actor, actorOf } from '../../domain/run/actor.ts';
import { newRun } from '../../domain/run/new-run.ts';
import {
  isAboutNow,
  type Plan,
  type PullRequestNow,
  planRuns,
  type Reopening,
} from '../../domain/run/plan.ts';
import { isRunOver, type Run, type RunFacts } from '../../domain/run/run.ts';
import type { Signal } from '../../domain/run/transition.ts';
import { type GitHub, GitHubError, type PullRequest, type PullRequestFile } from '../../ports/github.ts';
import type { PullRequestRow, Storage, Tx } from '../../ports/storage.ts';
import { checkConfiguration } from '../configuration/check-configuration.ts';
import type { Configuration, ConfigurationLoader } from '../configuration/configuration.ts';
import { type GateChecks, gateCheckKey } from '../effects/gate-check.ts';
import { mergeKey, ownMerge } from '../effects/merge.ts';
import type { Outbox } from '../effects/outbox.ts';
import { auditConfiguration } from './audit-configuration.ts';
import type { Engine } from './engine.ts';
import { publishUnaskedGate } from './publish-gate.ts';
import { auditMergeElsewhere, isOurMerge, sawState } from './pull-request-state.ts';
import { unreadableBecause } from './what-changed.ts';
import { whyNoRun } from './why-no-run.ts';

/** What waits for people or for a gate looks at once. */
export const LOOK: Signal = { kind: 'wake', for: ['approval', 'until'] };

export type PullRequestEvent = EventOf<'pr.opened' | 'pr.updated' | 'pr.merged' | 'pr.closed'>;

export interface PullRequestDeps {
  storage: Storage;
  github: GitHub;
  engine: Engine;
  outbox: Outbox;
  gates: GateChecks;
  configuration: ConfigurationLoader;
  clock: Clock;
  ids: Ids;
  log: Log;
}

/**
 * Brings a pull request's runs in line with what GitHub says it is now: ends those about an older head, another base,
 * a draft or a closed pull request, and begins what its chains want for the head.
 */
export async function onPullRequest(
  deps: PullRequestDeps,
  event: PullRequestEvent,
  deliveryId: number | null,
): Promise<void> {
  const { storage, github, engine, clock } = deps;
  const by = actorOf(event, deliveryId);
  if (event.kind === 'pr.merged' && (await onlyOurMerges(deps, event, by))) return;
  const repo = event.repository;
  const reader = github.reader(event.installation_id);
  const pullRequest = await reader.pullRequest(repo, event.pull_request);
  if ('updated_at' in event && event.updated_at && pullRequest.updatedAt < new Date(event.updated_at)) {
    throw new GitHubError('unavailable', 0, 'GitHub answers with an older state than its webhook told of');
  }
  const { configuration, listed } = await governing(deps, event, pullRequest);
  const configurationChecks = configuration
    ? await checkConfiguration(deps, event, pullRequest, listed.files, configuration)
    : [];
  const protection =
    configuration && pullRequest.state === 'open' && isGated(configuration)
      ? await readProtection(deps, event, pullRequest.baseRef)
      : undefined;

  await storage.transaction(async (tx) => {
    const subject = { repositoryId: event.repository.id, pullRequest: event.pull_request };
    const runs = await tx.runs.current(subject);
    const facts = repositoryFacts(event, pullRequest.defaultBranch);
    const own = pullRequest.merged
      ? await ownMerge(tx, { ...subject, headSha: pullRequest.headSha })
      : undefined;
    const now = { ...pullRequestNow(pullRequest, listed), ownMerge: own?.merge };
    const reopening = await reopeningOf(tx, event, pullRequest);
    const planned = planRuns(now, configuration?.chains ?? [], runs, facts, reopening);
    const plan = withoutGuesses(planned, runs, configuration);
    if (own?.underWay || (pullRequest.merged && (await isHeldOpen(tx, runs))))
      await lookAtMerge(deps, tx, runs, by);
    else await endRuns(deps, tx, plan, by);
    if (pullRequest.merged) await auditMergeElsewhere(tx, event, pullRequest, by);
    if (configuration) await auditConfiguration(tx, event, pullRequest.baseRef, configuration, by);
    const row = await tx.pullRequests.get(event.repository.id, event.pull_request);
    await tx.pullRequests.upsert({
      repositoryId: event.repository.id,
      number: event.pull_request,
      repository: facts.full_name,
      installationId: event.installation_id,
      pausedBy: row?.pausedBy ?? null,
      ...headsSeen(row, pullRequest.headSha, clock.now()),
      updatedAt: clock.now(),
    });
    if (protection) {
      await tx.gateProtections.put(event.repository.id, pullRequest.baseRef, {
        protection,
        readAt: clock.now(),
      });
    }
    await sawState(tx, event, pullRequest, clock.now());
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
          facts: { ...factsOf(event, pullRequest, facts), ...governedBy(configuration) },
          paused: (row?.pausedBy ?? null) !== null,
        },
        deps.ids,
        clock.now(),
      );
      await engine.begin(tx, state);
    }
    await closeUnaskedGate(deps, tx, event, pullRequest, { plan, runs, configuration, now, facts });
    await wakeRemaining(deps, tx, plan, runs, by);
    await requestAgain(deps, tx, event);
    for (const { key, effect } of configurationChecks) {
      await deps.outbox.request(tx, key, effect, {
        runId: null,
        at: clock.now(),
        cause: causeOf(event, pullRequest),
      });
    }
  });
}

/** A chain that nobody can read may still be for the pull request: its run is held up, and goes on once it can be read. */
function withoutGuesses(plan: Plan, runs: readonly Run[], configuration: Configuration | undefined): Plan {
  const isUnreadable = (runId: string) => {
    const run = runs.find(({ id }) => id === runId);
    return run && configuration && unreadableBecause(run.chain, configuration) !== undefined;
  };
  const isGuess = ({ runId, reason }: Plan['cancel'][number]) =>
    reason.code === 'run.cancelled.not_triggered' && isUnreadable(runId);
  return { ...plan, cancel: plan.cancel.filter((end) => !isGuess(end)) };
}

/** Whether pull requests of this configuration are for a maintainer to countersign: some chain merges, or one may that cannot be read. */
function isGated({ chains, broken }: Configuration): boolean {
  return broken.length > 0 || chains.some(merges);
}

/** How long what a branch requires is believed, in milliseconds: people read it, and nothing is decided by it. */
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
    // It is only told to people: nothing waits for it.
    if (error instanceof GitHubError) return undefined;
    throw error;
  }
}

/**
 * A required check that nobody sets says nothing about why it is missing. So the gate check of an open pull request is there
 * as soon as its branch has a chain that merges, also when none of them is for it; and one that an earlier pull request
 * with the same head and base left green is closed.
 */
async function closeUnaskedGate(
  { gates, clock }: PullRequestDeps,
  tx: Tx,
  event: PullRequestEvent,
  pullRequest: PullRequest,
  known: {
    plan: Plan;
    runs: readonly Run[];
    configuration: Configuration | undefined;
    now: PullRequestNow;
    facts: RunFacts['repo'];
  },
): Promise<void> {
  const { plan, runs, configuration, now, facts } = known;
  if (pullRequest.state !== 'open') return;
  const ended = new Set(plan.cancel.map(({ runId }) => runId));
  const isAsked =
    plan.begin.some(merges) ||
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

/** What chains are chosen by for a pull request, besides itself: nothing begins for one that is closed, so nothing is read. */
export async function governing(
  { github, configuration }: Pick<PullRequestDeps, 'github' | 'configuration'>,
  { installation_id, repository }: RepositoryEvent,
  { number, state, ...base }: PullRequest,
): Promise<{
  configuration: Configuration | undefined;
  listed: { files: PullRequestFile[]; truncated: boolean };
}> {
  if (state === 'closed') return { configuration: undefined, listed: { files: [], truncated: false } };
  return {
    configuration: await configuration.forPullRequest(installation_id, repository, base),
    listed: await github.reader(installation_id).pullRequestFiles(repository, number),
  };
}

/**
 * Whether every unfinished run of the pull request is merging it at this moment, or one that is over has: then GitHub only tells what we
 * did.
 * The session that merges records it; in case it died with the answer, it is made to look again.
 */
async function onlyOurMerges(deps: PullRequestDeps, event: PullRequestEvent, by: Actor): Promise<boolean> {
  return deps.storage.transaction(async (tx) => {
    const unfinished = await tx.runs.list({
      repositoryId: event.repository.id,
      pullRequest: event.pull_request,
      active: true,
    });
    for (const run of unfinished) {
      if (!(await expectsMerge(tx, run))) return false;
    }
    if (unfinished.length === 0 && !(await isOurMerge(tx, event))) return false;
    await sawState(tx, event, { merged: true, state: 'closed' }, deps.clock.now());
    for (const run of unfinished) {
      await deps.engine.signal(tx, run.id, LOOK, by);
    }
    return true;
  });
}

/**
 * Whether a merge of the pull request is what the run has asked for: it has begun the merge call itself, or it holds the gate
 * open for people, auto-merge or the merge queue.
 */
async function expectsMerge(tx: Tx, run: Run): Promise<boolean> {
  const merging = await tx.effects.get(mergeKey(run.id, run.headSha));
  if (merging?.begun) return true;
  const gate = await tx.effects.get(gateCheckKey(run.repositoryId, run.headSha, run.baseRef));
  return gate?.progress.passed?.run_id === run.id;
}

/** Whether one of the runs holds the gate open, so that a merge by the button, auto-merge or the merge queue is its own. */
async function isHeldOpen(tx: Tx, runs: readonly Run[]): Promise<boolean> {
  for (const run of runs) {
    if (!isRunOver(run.status) && (await expectsMerge(tx, run))) return true;
  }
  return false;
}

async function reopeningOf(
  tx: Tx,
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
 * GitHub's word of our own merge can overtake its answer to us. The session that merges records it, and then has the pull request
 * looked at again: only then can the runs beside it be told who merged. In case it died with the answer, it is made to look.
 */
async function lookAtMerge(deps: PullRequestDeps, tx: Tx, runs: readonly Run[], by: Actor): Promise<void> {
  for (const { id, headSha, status } of runs) {
    const isMerging = !isRunOver(status) && (await tx.effects.get(mergeKey(id, headSha)))?.begun;
    if (isMerging) await deps.engine.signal(tx, id, LOOK, by);
  }
}

/** Any event of a pull request is a reason to look for a countersign, and at a gate that is not passed, at once. */
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
    await deps.engine.signal(tx, run.id, LOOK, by);
  }
}

/** Why a run ended that could not be told of its end on GitHub. */
const OUT_OF_REACH: readonly (ReasonCode | undefined)[] = [
  'run.aborted.installation_gone',
  'run.aborted.repository_gone',
  'run.aborted.shut_out',
];

/**
 * What a run left on GitHub when the app was shut out still asks and still spins there. Now that GitHub answers again, its
 * last words are said after all, where the pull request and the app's installation are today. What was never there
 * does not come into being for that.
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
  for (const run of runs.filter(({ reason }) => OUT_OF_REACH.includes(reason?.code))) {
    for (const { key, effect, status, begun } of await tx.effects.ofRun(run.id)) {
      if (status !== 'failed' || !begun || effect.kind === 'merge' || effect.kind === 'enqueue') continue;
      await outbox.request(tx, key, { ...effect, ...place }, { runId: run.id, at: clock.now(), anew: true });
    }
  }
}

/** Which head is here since when, and which was before: a command is not meant for a head that came after it. */
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

/** A renamed file counts under both of its names; what GitHub did not list could be any. */
export function pullRequestNow(
  pullRequest: PullRequest,
  { files, truncated }: { files: readonly PullRequestFile[]; truncated: boolean },
): PullRequestNow {
  const paths = files.flatMap(({ path, previousPath }) =>
    previousPath === undefined ? [path] : [path, previousPath],
  );
  return {
    ...pullRequest,
    author: pullRequest.author.login,
    changedPaths: truncated ? undefined : paths,
  };
}

export function repositoryFacts(event: RepositoryEvent, defaultBranch: string): RunFacts['repo'] {
  const { owner, name } = event.repository;
  return { full_name: `${owner}/${name}`, owner, name, default_branch: defaultBranch };
}

/** What a run notes of where its rules are from, beside its base. */
export function governedBy({ branch, insteadOf }: Configuration): Pick<RunFacts, 'governed'> {
  return insteadOf ? { governed: { branch, because: insteadOf.because } } : {};
}

export function factsOf(event: RepositoryEvent, pullRequest: PullRequest, repo: RunFacts['repo']): RunFacts {
  return {
    repo,
    trigger: {
      event: event.kind,
      pr_number: pullRequest.number,
      title: pullRequest.title,
      author: pullRequest.author.login,
      head_sha: pullRequest.headSha,
      head: pullRequest.headRef,
      base: pullRequest.baseRef,
      draft: pullRequest.draft,
      labels: pullRequest.labels,
    },
  };
}
