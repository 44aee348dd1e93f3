import { unreachable } from '../../core/errors.ts';
import { redactValue } from '../../core/redact/redact.ts';
import type { Chain } from '../../domain/chain/chain.ts';
import {
  chainNamed,
  chainsWaitingFor,
  chainsWithPullRequestComposites,
  hasPullRequestComposite,
  holdOf,
} from '../../domain/chain/chain-list.ts';
import { MAX_DEPTH } from '../../domain/chain/firing-cycle.ts';
import {
  explainTriggers,
  type TriggerDecision,
  type TriggerFacts,
  triggerMatches,
} from '../../domain/chain/trigger.ts';
import type { TriggerFactsOf } from '../../domain/chain/trigger-members.ts';
import type { ONE_TIME_EVENTS } from '../../domain/chain/trigger-schema.ts';
import type { EventOf } from '../../domain/event/event.ts';
import { isAtLeast } from '../../domain/policy/role.ts';
import { actorOf } from '../../domain/run/actor.ts';
import { plainLine } from '../../domain/run/explain.ts';
import { firedOnce } from '../../domain/run/fired-once.ts';
import { newRun } from '../../domain/run/new-run.ts';
import { type Decision, type Declined, triggerFacts } from '../../domain/run/plan.ts';
import { governingBranch, type RunFacts } from '../../domain/run/run.ts';
import { short } from '../../messages/text/pretty.ts';
import type { Firing } from '../../ports/firings.ts';
import type { GitHub, GitHubReader, PullRequest } from '../../ports/github.ts';
import type { ReadTx, Storage, Tx } from '../../ports/storage.ts';
import type { Configuration, ConfigurationLoader } from '../configuration/configuration.ts';
import { type CausedBy, causedBy } from '../effects/caused-by.ts';
import { isOnBranch } from '../gates/branch-history.ts';
import { auditConfiguration } from './audit-configuration.ts';
import { countedBy, mayBegin, skipTooMany, tooManyBecause } from './caused-runs.ts';
import { countForComposites, type Happening, type Subject, withProgress } from './composites.ts';
import { placeOfCommit, placeOfPullRequest } from './listening.ts';
import type { CountedHead, PullRequestDeps } from './on-pull-request.ts';
import { branchHere, governedBy, pullRequestNow, repositoryFacts, runFactsOf } from './run-facts.ts';

export type OneTimeEvent = EventOf<(typeof ONE_TIME_EVENTS)[number]>;

/** What a decision reads. */
export interface DecisionDeps {
  storage: Pick<Storage, 'read'>;
  github: Pick<GitHub, 'reader'>;
  configuration: ConfigurationLoader;
}

/**
 * Starts the chains for events that happen once: a merge, a label, a new issue, a push. If the delivery is
 * processed again, it finds those runs and starts none.
 */
export async function fireOnce(
  deps: PullRequestDeps,
  event: OneTimeEvent,
  deliveryId: number | null,
): Promise<void> {
  await (await firing(deps, event, deliveryId))?.();
}

/** What starts those chains; `undefined` if there are none. */
export async function firing(
  deps: PullRequestDeps,
  event: OneTimeEvent,
  deliveryId: number | null,
): Promise<(() => Promise<void>) | undefined> {
  const found = [
    await firingOfEvent(deps, event, deliveryId),
    ...(event.kind === 'ci.changed' ? await firingInPullRequests(deps, event, deliveryId) : []),
  ].filter((fire) => fire !== undefined);
  if (found.length === 0) return undefined;
  return async () => {
    for (const fire of found) await fire();
  };
}

/** Whether no chain waits for the event, as far as is known without GitHub. */
export async function firesNothing(
  { listening }: Pick<PullRequestDeps, 'listening'>,
  tx: ReadTx,
  event: EventOf<'pr.merged' | 'ci.changed'>,
): Promise<boolean> {
  const repositoryId = event.repository.id;
  if (event.kind === 'pr.merged') {
    const [run] = await tx.runs.list({ repositoryId, pullRequest: event.pull_request, limit: 1 });
    if (!run) return false;
    const place = placeOfCommit(repositoryId, { branch: governingBranch(run), sha: run.baseSha });
    return !listening.mayWait(place, event.kind);
  }
  if (!event.ended) return true;
  if (listening.mayWait({ repositoryId, branch: event.ended.default_branch }, event.kind)) return false;
  const open = await tx.pullRequests.openWithHead(repositoryId, event.head_sha);
  return !open.some(({ number }) => listening.mayWait(placeOfPullRequest(repositoryId, number), event.kind));
}

async function firingOfEvent(
  deps: PullRequestDeps,
  event: OneTimeEvent,
  deliveryId: number | null,
): Promise<(() => Promise<void>) | undefined> {
  const branch = frequentOn(event);
  const place = branch === undefined ? undefined : { repositoryId: event.repository.id, branch };
  if (place && !deps.listening.mayWait(place, event.kind)) return undefined;
  const configuration = await governing(deps, event);
  if (place && configuration) deps.listening.learn(place, configuration.chains);
  const waiting = configuration ? waitingFor(configuration, event.kind) : [];
  if (!configuration || waiting.length === 0) return undefined;
  return () => fire(deps, event, deliveryId, configuration, waiting);
}

/** The chains that run and wait for such events, alone or as a part. */
function waitingFor({ chains, held }: Configuration, kind: OneTimeEvent['kind']): Chain[] {
  return chainsWaitingFor(chains, kind).filter(({ name }) => !holdOf(held, name));
}

/**
 * A check belongs to the pull requests whose head it is about, and each is governed by its own base. GitHub names them
 * only for heads in the same repository: https://docs.github.com/en/rest/checks/runs. So the rows of pull requests decide.
 */
async function firingInPullRequests(
  deps: PullRequestDeps,
  event: EventOf<'ci.changed'>,
  deliveryId: number | null,
): Promise<(() => Promise<void>)[]> {
  if (!event.ended) return [];
  const placeOf = (number: number) => placeOfPullRequest(event.repository.id, number);
  const mayWait = (number: number) => deps.listening.mayWait(placeOf(number), event.kind);
  const found = [];
  for (const { pullRequest, configuration } of await openPullRequests(deps, event, mayWait)) {
    deps.listening.learn(placeOf(pullRequest.number), chainsWithPullRequestComposites(configuration.chains));
    const chains = waitingFor(configuration, event.kind).filter(hasPullRequestComposite);
    if (chains.length === 0) continue;
    found.push(async () => {
      const occurrence = await occurrenceOf(deps, event, configuration);
      if (!occurrence) return;
      const happening = happeningOf(occurrence, deliveryId, chains);
      const inPullRequest = subjectIn(event, pullRequest, occurrence.subject);
      await deps.storage.transaction(async (tx) => {
        await countForComposites(deps, tx, { ...happening, ...inOnly(inPullRequest) });
      });
    });
  }
  return found;
}

/** The open pull requests whose head a check is about, each with the configuration of its base. */
async function openPullRequests(
  deps: DecisionDeps,
  { installation_id, repository, head_sha }: EventOf<'ci.changed'>,
  counts: (number: number) => boolean = () => true,
): Promise<{ pullRequest: PullRequest; configuration: Configuration }[]> {
  const found = [];
  for (const { number } of await deps.storage.read.pullRequests.openWithHead(repository.id, head_sha)) {
    if (!counts(number)) continue;
    const pullRequest = await deps.github.reader(installation_id).pullRequest(repository, number);
    if (pullRequest.state === 'closed' || pullRequest.headSha !== head_sha) continue;
    const configuration = await deps.configuration.forPullRequest(installation_id, repository, pullRequest);
    if (configuration) found.push({ pullRequest, configuration });
  }
  return found;
}

/** A check in a pull request, told from others by itself: what GitHub says of its branch differs between webhooks and answers. */
function inOnly(inPullRequest: Subject): Pick<Happening, 'of' | 'alone' | 'inPullRequest'> {
  return { of: `${inPullRequest.headSha} check ${inPullRequest.occasion}`, alone: undefined, inPullRequest };
}

/**
 * Counts the checks and statuses of a head that have ended, for composites in its pull request. Of those that ended before the app
 * knew the head, the deliveries belonged to no pull request. If a delivery comes still, it is the same event.
 */
export async function countEndedChecks(
  deps: PullRequestDeps,
  event: EventOf<'pr.opened' | 'pr.updated'>,
  deliveryId: number | null,
  { pullRequest, configuration }: CountedHead,
): Promise<void> {
  const { installation_id, repository } = event;
  const { headSha, defaultBranch } = pullRequest;
  const reader = deps.github.reader(installation_id);
  const [checks, statuses] = await Promise.all([
    reader.checkRuns(repository, headSha),
    reader.statuses(repository, headSha),
  ]);
  const branch = branchHere(pullRequest)?.branch;
  const about = { ...(branch !== undefined && { branch }), default_branch: defaultBranch };
  const ended = [
    ...checks.flatMap(({ id, name, conclusion, appId, completedAt, workflowRunId }) =>
      conclusion === null || appId === deps.github.appId
        ? []
        : [
            {
              at: completedAt,
              ended: {
                ...about,
                id,
                name,
                conclusion,
                ...(workflowRunId !== null && { workflow_run: workflowRunId }),
              },
            },
          ],
    ),
    ...statuses.flatMap(({ id, context, state, createdAt, isOwn }) =>
      id === undefined || state === 'pending' || isOwn
        ? []
        : [{ at: createdAt, ended: { ...about, id, name: context, conclusion: state } }],
    ),
  ].toSorted((one, other) => (one.at?.getTime() ?? 0) - (other.at?.getTime() ?? 0));
  const chains = waitingFor(configuration, 'ci.changed').filter(hasPullRequestComposite);
  const opened = event.updated_at === undefined ? undefined : new Date(event.updated_at);
  const happenings: Happening[] = [];
  for (const check of ended) {
    const changed = {
      kind: 'ci.changed',
      installation_id,
      repository,
      head_sha: headSha,
      ended: check.ended,
    } as const;
    const occurrence = await occurrenceOf(deps, changed, configuration);
    if (!occurrence) continue;
    const happening = happeningOf(occurrence, null, chains);
    const inPullRequest = subjectIn(changed, pullRequest, occurrence.subject);
    const after = { deliveryId, at: opened, ended: check.at };
    happenings.push({ ...happening, ...inOnly(inPullRequest), after });
  }
  await deps.storage.transaction(async (tx) => {
    for (const happening of happenings) await countForComposites(deps, tx, happening);
  });
}

/** The same event as that of a pull request. */
function subjectIn(event: OneTimeEvent, pullRequest: PullRequest, subject: Subject): Subject {
  const { trigger } = runFactsOf(event, pullRequest, repositoryFacts(event, pullRequest.defaultBranch));
  const { headSha, baseRef, defaultBranch } = pullRequest;
  return {
    ...subject,
    pullRequest: pullRequest.number,
    headSha,
    headThen: subject.headSha,
    baseRef,
    defaultBranch,
    trigger: { ...trigger, ...subject.trigger },
  };
}

function happeningOf(
  { event, subject, repository, fired, configuration, by }: Occurrence,
  deliveryId: number | null,
  chains: readonly Chain[],
): Happening {
  return {
    event,
    deliveryId,
    depth: by.depth,
    root: by.root,
    configuration,
    chains,
    repository,
    of: `${subject.headSha} ${firedOnce({ trigger: redactValue(subject.trigger), fired })}`,
    alone: subject,
    inPullRequest: event.kind.startsWith('pr.') ? subject : undefined,
  };
}

function tooDeep(event: OneTimeEvent, depth: number): string {
  return plainLine(
    `${nameOfEvent(event)} starts no chain: ${depth - 1} runs have started one another, and at most ${MAX_DEPTH} may`,
  );
}

function tooMany(event: OneTimeEvent, { root }: CausedBy): string {
  const because = tooManyBecause(event, root);
  const begun = root === undefined ? because : `${because}, and these have begun`;
  const what =
    root === undefined && event.kind === 'ci.changed'
      ? `the checks of ${short(event.head_sha)} start`
      : `${nameOfEvent(event)} starts`;
  return plainLine(`${what} this chain no more: ${begun}`);
}

function nameOfEvent(event: OneTimeEvent): string {
  switch (event.kind) {
    case 'invocation.completed':
      return `the step ${event.step} of ${event.chain}`;
    case 'release.published':
      return `the release ${event.tag}`;
    case 'pr.merged':
      return `the merge of #${event.pull_request}`;
    case 'pr.closed':
      return `the close of #${event.pull_request}`;
    case 'file.changed':
      return `the push to ${event.branch}`;
    case 'ci.changed':
      return `the check ${event.ended?.name ?? ''}`;
    case 'pr.labeled':
    case 'issue.labeled':
      return `the label ${event.label}`;
    case 'pr.review_submitted':
      return `the review of #${event.pull_request}`;
    case 'issue.created':
      return `the issue #${event.issue}`;
    default:
      return unreachable(event);
  }
}

/** For events that come often and mostly start nothing: the branch whose chains may wait for them. */
function frequentOn(event: OneTimeEvent): string | undefined {
  switch (event.kind) {
    case 'pr.labeled':
    case 'pr.review_submitted':
      return event.base_ref;
    case 'ci.changed':
      return event.ended?.default_branch;
    default:
      return undefined;
  }
}

/** What a decision about such an event rests on. */
interface Occurrence {
  event: OneTimeEvent;
  subject: Subject;
  repository: RunFacts['repo'];
  fired: NonNullable<RunFacts['fired']>;
  configuration: Configuration;
  by: CausedBy;
}

/** Everything that is read for a decision; `undefined` if the event is about nothing any more. */
async function occurrenceOf(
  deps: DecisionDeps,
  event: OneTimeEvent,
  configuration: Configuration,
): Promise<Occurrence | undefined> {
  const subject = await subjectOf(deps, event);
  if (!subject) return undefined;
  const { occasion } = subject;
  const fired = { source: event.kind, ...(occasion !== undefined && { occasion }) };
  const repository = repositoryFacts(event, subject.defaultBranch);
  const by = await causedBy(deps.storage.read, event, subject.branch);
  return { event, subject, repository, fired, configuration, by };
}

/** What the chain makes of the event, apart from earlier runs. */
function decideByTrigger(chain: Chain, { event, subject, repository, configuration }: Occurrence): Decision {
  const hold = holdOf(configuration.held, chain.name);
  if (hold) return { begins: false, why: 'held', hold };
  const match = triggerMatches(chain, factsOf({ event, subject, repository }));
  return match.matches ? { begins: true } : { begins: false, why: 'not_triggered', because: match.because };
}

function factsOf({ event, subject, repository }: Pick<Occurrence, 'event' | 'subject' | 'repository'>) {
  return { event: event.kind, repository, ...subject.facts };
}

/** Whether a chain whose trigger matches begins a run, given earlier ones. */
async function decideByRuns(
  tx: ReadTx,
  chain: Chain,
  { event, subject, fired, by }: Occurrence,
): Promise<Decision> {
  const place = { repositoryId: event.repository.id, headSha: subject.headSha, chain: chain.name };
  const about = firedOnce({ trigger: redactValue(subject.trigger), fired });
  // A record without an occasion is from when a head fired once, however often it was closed.
  const abouts =
    event.kind === 'pr.closed' ? [about, firedOnce({ trigger: redactValue(subject.trigger) })] : [about];
  const earlier = (await tx.runs.list(place)).find((run) => abouts.includes(firedOnce(run.facts)));
  if (earlier) return { begins: false, why: 'has_run', runId: earlier.id };
  for (const one of abouts)
    if (await tx.runs.wasFired({ ...place, subject: one })) return { begins: false, why: 'has_run' };
  if (by.depth > MAX_DEPTH) return { begins: false, why: 'too_deep', because: tooDeep(event, by.depth) };
  return { begins: true };
}

/** The decision about one chain as it would be now, with what each trigger makes of the event. */
export async function explainOnce(
  deps: DecisionDeps,
  event: OneTimeEvent,
  name: string,
): Promise<ChainExplained> {
  const configuration = await governing(deps, event);
  const chain = configuration && chainNamed(configuration.chains, name);
  if (!configuration || !chain) return { configuration };
  const occurrence = await occurrenceOf(deps, event, configuration);
  if (!occurrence) return { configuration };
  const byTrigger = decideByTrigger(chain, occurrence);
  const places = [{ branch: configuration.branch, subject: occurrence.subject }];
  if (event.kind === 'ci.changed') {
    for (const one of await openPullRequests(deps, event)) {
      const { pullRequest } = one;
      const subject = {
        ...occurrence.subject,
        pullRequest: pullRequest.number,
        headSha: pullRequest.headSha,
      };
      places.push({ branch: one.configuration.branch, subject });
    }
  }
  const triggers = await withProgress(
    deps.storage.read,
    chain,
    explainTriggers(chain, factsOf(occurrence)),
    places.map((place) => ({ repositoryId: event.repository.id, ...place })),
  );
  return {
    configuration,
    triggers,
    decision: byTrigger.begins ? await decideByRuns(deps.storage.read, chain, occurrence) : byTrigger,
  };
}

/** Without a decision, the chain is not in force, or what the event is about is gone. */
export interface ChainExplained {
  configuration: Configuration | undefined;
  triggers?: TriggerDecision[];
  decision?: Decision;
}

async function fire(
  deps: PullRequestDeps,
  event: OneTimeEvent,
  deliveryId: number | null,
  configuration: Configuration,
  waiting: readonly Chain[],
): Promise<void> {
  const occurrence = await occurrenceOf(deps, event, configuration);
  if (!occurrence) return;
  const { subject, repository, fired, by } = occurrence;
  const matching = waiting.filter((chain) => decideByTrigger(chain, occurrence).begins);
  const happening = happeningOf(occurrence, deliveryId, waiting);
  if (
    event.kind === 'invocation.completed' &&
    event.pull_request !== null &&
    waiting.some(hasPullRequestComposite)
  ) {
    const pullRequest = await deps.github
      .reader(event.installation_id)
      .pullRequest(event.repository, event.pull_request);
    happening.inPullRequest = subjectIn(event, pullRequest, subject);
  }
  await deps.storage.transaction(async (tx) => {
    await auditConfiguration(tx, event, subject.baseRef, configuration, actorOf(event, deliveryId));
    for (const chain of matching) {
      const decision = await decideByRuns(tx, chain, occurrence);
      if (!decision.begins) {
        await recordDeclined(deps, tx, chain, occurrence, decision);
        continue;
      }
      const counted = countedBy(event, by.root, chain, deps.clock.now());
      if (counted !== undefined && !(await mayBegin(tx, event.repository.id, counted, deps.clock.now()))) {
        const because = tooMany(event, by);
        await recordDeclined(deps, tx, chain, occurrence, { begins: false, why: 'too_many', because });
        continue;
      }
      const state = newRun(
        {
          chain,
          settings: configuration.settings,
          event,
          deliveryId,
          pullRequest: subject.pullRequest,
          headSha: subject.headSha,
          baseRef: subject.baseRef,
          baseSha: configuration.sha,
          facts: {
            repo: repository,
            trigger: subject.trigger,
            fired,
            ...(by.depth > 0 && { depth: by.depth }),
            ...(by.root !== undefined && { root: by.root }),
            ...governedBy(configuration, chain),
          },
          paused: false,
        },
        deps.ids,
        deps.clock.now(),
      );
      await deps.engine.begin(tx, state);
    }
    await countForComposites(deps, tx, happening);
  });
}

/** A firing that was due and does not happen keeps a row. A redelivery of what fired already is none. */
async function recordDeclined(
  { clock, ids, log }: PullRequestDeps,
  tx: Tx,
  chain: Chain,
  { event, subject, fired, by }: Occurrence,
  declined: Declined,
): Promise<void> {
  if (declined.why !== 'too_deep' && declined.why !== 'too_many') return;
  const now = clock.now();
  const { owner, name } = event.repository;
  const repository = `${owner}/${name}`;
  const firing: Firing = {
    id: ids.next('fir'),
    repositoryId: event.repository.id,
    chain: chain.name,
    trigger: event.kind,
    occasion: firedOnce({ trigger: redactValue(subject.trigger), fired }),
    installationId: event.installation_id,
    repository,
    status: 'skipped',
    reason: declined.why,
    summary: declined.because,
    count: 1,
    runId: by.runId ?? ids.next('run'),
    pullRequest: subject.pullRequest,
    dueAt: now,
    updatedAt: now,
  };
  const counted = countedBy(event, by.root, chain, now);
  if (declined.why === 'too_many' && counted !== undefined) return skipTooMany({ log }, tx, firing, counted);
  if (await tx.firings.insert(firing))
    log.warn({ chain: chain.name, repository, reason: declined.why }, declined.because);
}

/**
 * The configuration for the event. An ended pull request uses the one by which it was last judged, so that
 * its own merge does not choose what happens after it. Everything else uses the default branch.
 */
async function governing(deps: DecisionDeps, event: OneTimeEvent): Promise<Configuration | undefined> {
  const { configuration } = deps;
  const repo = event.repository;
  const installation = event.installation_id;
  switch (event.kind) {
    case 'pr.merged':
    case 'pr.closed': {
      const runs = await deps.storage.read.runs.list({
        repositoryId: event.repository.id,
        pullRequest: event.pull_request,
        limit: 1,
      });
      if (runs[0]) {
        const { baseSha: sha, baseRef: base, facts } = runs[0];
        const at = { sha, branch: governingBranch(runs[0]) };
        const found = await configuration.atCommit(installation, repo, at);
        return facts.governed ? { ...found, insteadOf: { base, because: facts.governed.because } } : found;
      }
      const pullRequest = await deps.github.reader(installation).pullRequest(repo, event.pull_request);
      return configuration.forPullRequest(installation, repo, pullRequest);
    }
    case 'pr.labeled':
    case 'pr.review_submitted': {
      const pullRequest = await deps.github.reader(installation).pullRequest(repo, event.pull_request);
      return configuration.forPullRequest(installation, repo, pullRequest);
    }
    case 'file.changed': {
      const { before_sha: before, head_sha: after, forced, paths } = event;
      if (event.branch !== event.default_branch) {
        return configuration.atBranch(installation, repo, event.default_branch);
      }
      if (!forced) configuration.pushed(repo, { before, after, paths });
      return configuration.atCommit(installation, repo, { sha: after, branch: event.branch });
    }
    case 'issue.created':
    case 'issue.labeled':
    case 'release.published': {
      const { defaultBranch } = await deps.github.reader(installation).repository(repo);
      return configuration.atBranch(installation, repo, defaultBranch);
    }
    case 'ci.changed':
      return event.ended && configuration.atBranch(installation, repo, event.ended.default_branch);
    case 'invocation.completed':
      return configuration.atBranch(installation, repo, event.branch);
    default:
      return unreachable(event);
  }
}

async function subjectOf(deps: DecisionDeps, event: OneTimeEvent): Promise<Subject | undefined> {
  const repo = event.repository;
  const reader = deps.github.reader(event.installation_id);
  const about = { kind: 'event', event: event.kind } as const;
  switch (event.kind) {
    case 'pr.merged':
    case 'pr.closed':
    case 'pr.labeled':
    case 'pr.review_submitted': {
      const pullRequest = await reader.pullRequest(repo, event.pull_request);
      const listed = await reader.pullRequestFiles(repo, event.pull_request);
      const counted =
        event.kind === 'pr.review_submitted'
          ? { ...event, review: await countedReview(reader, event) }
          : event;
      return ofPullRequest(counted, pullRequest, triggerFacts(pullRequestNow(pullRequest, listed)));
    }
    case 'issue.created':
    case 'issue.labeled': {
      const { defaultBranch } = await reader.repository(repo);
      return {
        ...WITHOUT_HEAD,
        baseRef: defaultBranch,
        defaultBranch,
        trigger: {
          ...about,
          actor: 'actor' in event ? event.actor : event.author,
          author: event.author,
          association: event.association ?? null,
          title: event.title,
          issue_number: event.issue,
          labels: event.labels,
          ...(event.kind === 'issue.labeled' && { label: event.label }),
        } satisfies TriggerFactsOf<'issue.created'>,
        ...(event.kind === 'issue.labeled' && { occasion: `${event.label} ${event.at}` }),
        facts: {
          issue: issueFacts(event),
          ...(event.kind === 'issue.labeled' && { label: event.label }),
        },
      };
    }
    case 'file.changed':
      return {
        pullRequest: null,
        headSha: event.head_sha,
        baseRef: event.branch,
        defaultBranch: event.default_branch,
        trigger: {
          ...about,
          actor: event.pusher,
          author: event.pusher,
          head_sha: event.head_sha,
          branch: event.branch,
          paths: event.paths,
        } satisfies TriggerFactsOf<'file.changed'>,
        facts: { push: { branch: event.branch, author: event.pusher, changed_paths: event.paths } },
      };
    case 'ci.changed': {
      if (!event.ended) return undefined;
      const { id, name, conclusion, branch: named, default_branch: defaultBranch } = event.ended;
      const isNamed = named !== undefined && (await isOnBranch(reader, repo, named, event.head_sha));
      const branch = isNamed ? named : undefined;
      return {
        pullRequest: null,
        headSha: event.head_sha,
        baseRef: branch ?? defaultBranch,
        defaultBranch,
        trigger: {
          ...about,
          actor: null,
          head_sha: event.head_sha,
          branch: branch ?? null,
          check: name,
          conclusion,
        } satisfies TriggerFactsOf<'ci.changed'>,
        occasion: `${name} ${id} ${conclusion}`,
        facts: { check: { name, conclusion, ...(branch !== undefined && { branch }) } },
      };
    }
    case 'release.published': {
      const { defaultBranch } = await reader.repository(repo);
      const headSha = await reader.branchTip(repo, defaultBranch);
      if (headSha === undefined) return undefined;
      const { tag, title, body, prerelease, author } = event;
      return {
        pullRequest: null,
        headSha,
        baseRef: defaultBranch,
        defaultBranch,
        trigger: {
          ...about,
          actor: author,
          author,
          title,
          tag,
          prerelease,
        } satisfies TriggerFactsOf<'release.published'>,
        occasion: `${event.release_id}`,
        facts: { release: { tag, title, body, prerelease, author } },
      };
    }
    case 'invocation.completed': {
      const { chain, step, outcome_kind, verdict, passed, depth } = event;
      return {
        pullRequest: event.pull_request,
        headSha: event.head_sha,
        baseRef: event.base_ref,
        defaultBranch: event.default_branch,
        trigger: {
          ...about,
          actor: null,
          chain,
          step,
          run_id: event.run_id,
          outcome_kind,
          verdict,
          passed,
          summary: event.summary,
          pr_number: event.pull_request,
          head_sha: event.head_sha,
          base: event.base_ref,
          depth,
        } satisfies TriggerFactsOf<'invocation.completed'>,
        occasion: event.artifact_id,
        facts: { invocation: { chain, step, kind: outcome_kind, verdict, passed } },
      };
    }
    default:
      return unreachable(event);
  }
}

/**
 * Anybody who can read a public repository can submit a review that approves or requests changes. As on GitHub, only write access
 * makes it more than a comment:
 * https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches#require-pull-request-reviews-before-merging
 */
async function countedReview(
  reader: GitHubReader,
  { repository, review, reviewer }: EventOf<'pr.review_submitted'>,
): Promise<EventOf<'pr.review_submitted'>['review']> {
  if (review === 'commented') return review;
  return isAtLeast(await reader.role(repository, reviewer), 'write') ? review : 'commented';
}

/** A check run needs a commit, and issues have none. An outsider could otherwise turn the default branch red. */
const WITHOUT_HEAD = { pullRequest: null, headSha: '' };

function ofPullRequest(
  event: EventOf<'pr.merged' | 'pr.closed' | 'pr.labeled' | 'pr.review_submitted'>,
  pullRequest: PullRequest,
  facts: NonNullable<TriggerFacts['pull_request']>,
): Subject {
  const { defaultBranch } = pullRequest;
  const { trigger } = runFactsOf(event, pullRequest, repositoryFacts(event, defaultBranch));
  const common = {
    pullRequest: event.pull_request,
    headSha: pullRequest.headSha,
    ...('head_sha' in event && { headThen: event.head_sha }),
    branch: branchHere(pullRequest),
    baseRef: pullRequest.baseRef,
    defaultBranch,
  };
  switch (event.kind) {
    case 'pr.merged':
      return { ...common, trigger, facts: { pull_request: facts } };
    case 'pr.closed': {
      // It can be opened again and closed again. Reconciliation reports the same close, with no other time of it.
      const { closedAt } = pullRequest;
      return {
        ...common,
        trigger,
        ...(closedAt && { occasion: closedAt.toISOString() }),
        facts: { pull_request: facts },
      };
    }
    case 'pr.labeled': {
      const { label, at } = event;
      return {
        ...common,
        trigger: { ...trigger, label },
        occasion: `${label} ${at}`,
        facts: { pull_request: facts, label },
      };
    }
    case 'pr.review_submitted': {
      const { review, reviewer, review_id } = event;
      return {
        ...common,
        trigger: { ...trigger, actor: reviewer, review, reviewer },
        occasion: `${review_id}`,
        facts: { pull_request: facts, review },
      };
    }
    default:
      return unreachable(event);
  }
}

function issueFacts({
  issue,
  author,
  labels,
  association,
  title,
  body,
}: EventOf<'issue.created' | 'issue.labeled'>) {
  return {
    number: issue,
    author,
    labels,
    title,
    ...(association !== undefined && { association }),
    ...(body !== undefined && { body }),
  };
}
