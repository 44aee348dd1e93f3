import { canonicalJson, shortHash } from '../../core/canonical.ts';
import type { Clock } from '../../core/clock.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { Chain } from '../../domain/chain/chain.ts';
import {
  advance,
  expiryOf,
  type Happened,
  NOTHING_YET,
  type Occurrence,
  progressOf,
} from '../../domain/chain/composite.ts';
import { MAX_DEPTH } from '../../domain/chain/firing-cycle.ts';
import { partsFilledBy, type TriggerDecision, type TriggerFacts } from '../../domain/chain/trigger.ts';
import type { CompositeFacts } from '../../domain/chain/trigger-members.ts';
import {
  type Composite,
  compositesOf,
  isAboutPullRequests,
  nameOfComposite,
  type TriggerEvent,
} from '../../domain/chain/trigger-schema.ts';
import { broughtBy, type EventOf } from '../../domain/event/event.ts';
import { newRun } from '../../domain/run/new-run.ts';
import type { RunFacts } from '../../domain/run/run.ts';
import {
  compositeCrowdedOut,
  compositeExpired,
  compositeHasFired,
  compositeTooDeep,
  compositeTooMany,
  progressOfComposite,
} from '../../messages/run/composite.ts';
import { type CompositeRow, keyOfPullRequest, pullRequestOfKey } from '../../ports/composites.ts';
import type { Firing, SkippedBecause } from '../../ports/firings.ts';
import type { ReadTx, Tx } from '../../ports/storage.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { countedBy, mayBegin, skipTooMany, tooManyBecause } from './caused-runs.ts';
import type { Engine } from './engine.ts';
import { governedBy } from './run-facts.ts';

/** For how many pull requests, commits and repositories a chain of a repository waits at most. */
const MAX_KEYS = 10_000;

/** The subject of an event, in the terms of runs and triggers. */
export interface Subject {
  pullRequest: number | null;
  headSha: string;
  /** The head of the pull request when the event happened, if that is known. */
  headThen?: string | undefined;
  /** The branch of the pull request, if it is one of this repository. */
  branch?: { repositoryId: number; branch: string } | undefined;
  baseRef: string;
  defaultBranch: string;
  trigger: RunFacts['trigger'];
  /** Tells apart what can happen to the subject several times. Absent where that cannot be. */
  occasion?: string;
  facts: Omit<TriggerFacts, 'event' | 'repository'>;
}

/** What of a subject composites count by. */
type About = Pick<Subject, 'pullRequest' | 'headSha' | 'headThen'>;

/** An event that may fill parts of composites. */
export interface Happening {
  event: EventOf<TriggerEvent>;
  deliveryId: number | null;
  /** When it happened, if no delivery says so: with the delivery before it, and GitHub's times of both. */
  after?: { deliveryId: number | null; at: Date | undefined; ended: Date | null };
  /** How many runs started one another until the event. */
  depth: number;
  /** The first of them. */
  root?: string | undefined;
  configuration: Configuration;
  /** Those of the configuration that count. */
  chains: readonly Chain[];
  repository: RunFacts['repo'];
  /** Equal for the same event, however often it is delivered. */
  of: string;
  /** For composites that are not about pull requests. */
  alone?: Subject | undefined;
  /** For composites about pull requests. */
  inPullRequest?: Subject | undefined;
}

interface CompositeDeps {
  engine: Engine;
  clock: Clock;
  ids: Ids;
  log: Log;
}

/**
 * Counts an event for the composites of the chains, and begins the runs of those that fire. Parts are judged as triggers of
 * their own would be, under the same configuration, so a composite fires only where its last event alone could have.
 * What was seen, the firing and its run are one transaction, and the row of a firing is unique.
 * @returns the chains whose runs have begun
 */
export async function countForComposites(
  deps: CompositeDeps,
  tx: Tx,
  happening: Happening,
): Promise<Chain[]> {
  const { clock, ids } = deps;
  const { event, repository, configuration, chains } = happening;
  const begun: Chain[] = [];
  let moment: Pick<Happened, 'at' | 'order'> | undefined;
  for (const chain of chains) {
    for (const { composite, position } of compositesOf(chain)) {
      const subject = isAboutPullRequests(composite) ? happening.inPullRequest : happening.alone;
      const key = subject && keyOf(composite, subject);
      if (!subject || key === undefined) continue;
      const parts = partsFilledBy({ event: event.kind, repository, ...subject.facts }, composite, chain.name);
      if (parts.length === 0) continue;
      moment ??= happening.after
        ? await momentAfter(tx, happening.after, clock.now())
        : await momentOf(tx, happening.deliveryId, clock.now());
      const place = {
        repositoryId: event.repository.id,
        chain: chain.name,
        branch: configuration.branch,
        position,
        key,
      };
      const row = await tx.composites.get(place);
      const known =
        row && canonicalJson(row.composite) === canonicalJson(composite) ? row.state : NOTHING_YET;
      const depth = happening.depth > 0 ? { depth: happening.depth } : {};
      const people = broughtBy(event, subject.pullRequest);
      const by = people.length > 0 ? { by: people } : {};
      const occurrence = { parts, ...moment, of: shortHash(happening.of, 16), ...depth, ...by };
      const { state, fired } = advance(composite, known, occurrence, clock.now().getTime());
      if (state === known) continue;
      const next: CompositeRow = {
        ...place,
        installationId: event.installation_id,
        repository: repository.full_name,
        composite,
        state,
        expiresAt: expiryOf(composite, state),
      };
      await tx.composites.put(next);
      if (!row) await crowdOut(deps, tx, place);
      if (!fired) continue;
      const firing = firingOf(next, occurrence.of, new Date(occurrence.at), ids, clock.now());
      const reached = Math.max(0, ...fired.map((one) => one.depth ?? 0));
      if (reached > MAX_DEPTH) {
        await skip(deps, tx, skipped(firing, 'too_deep', compositeTooDeep(composite, key, MAX_DEPTH)));
        continue;
      }
      const counted = countedBy(event, happening.root, chain, clock.now());
      if (counted !== undefined && !(await mayBegin(tx, event.repository.id, counted, clock.now()))) {
        const summary = compositeTooMany(composite, key, tooManyBecause(event, happening.root));
        await skipTooMany(deps, tx, skipped(firing, 'too_many', summary), counted);
        continue;
      }
      if (!(await tx.firings.insert(firing))) continue;
      await begin(deps, tx, happening, { chain, subject, composite, position, fired, firing, reached });
      begun.push(chain);
    }
  }
  return begun;
}

/**
 * Adds what the composites of the chain have seen to what its triggers make of an event.
 * @param places the subjects of the event, each with the branch whose configuration governs it
 */
export async function withProgress(
  read: ReadTx,
  chain: Chain,
  triggers: readonly TriggerDecision[],
  places: readonly { repositoryId: number; branch: string; subject: About }[],
): Promise<TriggerDecision[]> {
  const seen = new Map<number, string[]>();
  for (const { composite, position } of compositesOf(chain)) {
    for (const { subject, ...place } of places) {
      const key = keyOf(composite, subject);
      if (key === undefined) continue;
      const row = await read.composites.get({ ...place, chain: chain.name, position, key });
      const said = row && seenBy(row);
      if (said !== undefined) seen.set(position, [...(seen.get(position) ?? []), said]);
    }
  }
  return triggers.map((one, position) => ({
    ...one,
    checks: one.checks.map((check) => ({
      ...check,
      because: [check.because, ...(seen.get(position) ?? [])].join('; '),
    })),
  }));
}

function seenBy({ composite, state }: CompositeRow): string | undefined {
  const progress = progressOf(composite, state);
  if (progress) return progressOfComposite(composite, progress);
  return state.spent && compositeHasFired(new Date(state.spent.at));
}

/**
 * What the parts must have in common. A composite about pull requests with the commit as its key counts for each pull
 * request and head, because two pull requests can have the same head, and what people say about one is not said about
 * the other. An event that was about an earlier head counts for none.
 */
function keyOf(
  composite: Composite,
  { pullRequest, headSha, headThen = headSha }: About,
): string | undefined {
  switch (composite.key) {
    case 'pull_request':
      return pullRequest === null ? undefined : keyOfPullRequest(pullRequest);
    case 'commit':
      if (headSha === '' || headThen !== headSha) return undefined;
      if (!isAboutPullRequests(composite)) return headSha;
      return pullRequest === null ? undefined : keyOfPullRequest(pullRequest, headSha);
    case 'repository':
      return 'repository';
    default:
      return composite.key satisfies never;
  }
}

/** When GitHub first sent the event: the only time that no author can choose and that reordered processing keeps. */
async function momentOf(
  tx: Tx,
  deliveryId: number | null,
  now: Date,
): Promise<Pick<Happened, 'at' | 'order'>> {
  const delivery = deliveryId === null ? undefined : await tx.deliveries.get(deliveryId);
  if (!delivery || deliveryId === null) return { at: now.getTime() };
  const missed = await tx.missedDeliveries.get(delivery.guid);
  const arrived = delivery.receivedAt.getTime();
  return { at: Math.min(arrived, missed?.deliveredAt.getTime() ?? arrived), order: deliveryId };
}

/** GitHub gives times in whole seconds, and when it happened within them is not known. */
const SECOND_MS = 999;

/**
 * When something happened that was found on GitHub beside a delivery. What ended after the delivery's event counts after it,
 * however late the app received that.
 */
async function momentAfter(
  tx: Tx,
  { deliveryId, at, ended }: NonNullable<Happening['after']>,
  now: Date,
): Promise<Pick<Happened, 'at' | 'order'>> {
  const time = Math.min(now.getTime(), ended === null ? now.getTime() : ended.getTime() + SECOND_MS);
  if (at && time < at.getTime()) return { at: time };
  return { at: Math.max(time, (await momentOf(tx, deliveryId, now)).at) };
}

interface Fired {
  chain: Chain;
  subject: Subject;
  composite: Composite;
  position: number;
  fired: readonly Occurrence[];
  firing: Firing;
  reached: number;
}

async function begin(
  { engine, ids, clock }: CompositeDeps,
  tx: Tx,
  { event, deliveryId, configuration, repository, root }: Happening,
  { chain, subject, composite, position, fired, firing, reached }: Fired,
): Promise<void> {
  const { pullRequest } = subject;
  const row = pullRequest === null ? undefined : await tx.pullRequests.get(event.repository.id, pullRequest);
  const people = [...new Set(fired.flatMap(({ by = [] }) => by))];
  const about: CompositeFacts = {
    kind: composite.kind,
    composite: position + 1,
    parts: fired.flatMap(({ parts: [first = 0] }) => composite.parts[first]?.event ?? []),
  };
  const state = newRun(
    {
      id: firing.runId,
      chain,
      settings: configuration.settings,
      event,
      deliveryId,
      pullRequest,
      headSha: subject.headSha,
      baseRef: subject.baseRef,
      baseSha: configuration.sha,
      facts: {
        repo: repository,
        trigger: { ...subject.trigger, ...about },
        fired: { source: event.kind, occasion: `${composite.kind} ${firing.occasion}` },
        ...(reached > 0 && { depth: reached }),
        ...(root !== undefined && { root }),
        ...(people.length > 0 && { broughtBy: people }),
        ...governedBy(configuration, chain),
      },
      paused: (row?.pausedBy ?? null) !== null,
    },
    ids,
    clock.now(),
  );
  await engine.begin(tx, state);
}

function firingOf(row: CompositeRow, occasion: string, at: Date, ids: Ids, now: Date): Firing {
  const { repositoryId, chain, installationId, repository, branch, position, key, composite } = row;
  return {
    id: ids.next('fir'),
    repositoryId,
    chain,
    trigger: nameOfComposite(composite),
    occasion: `${branch} ${position} ${key} ${occasion}`,
    installationId,
    repository,
    status: 'fired',
    reason: null,
    summary: null,
    count: 1,
    runId: ids.next('run'),
    pullRequest: pullRequestOfKey(key),
    dueAt: at,
    updatedAt: now,
  };
}

function skipped(firing: Firing, reason: SkippedBecause, summary: string): Firing {
  return { ...firing, status: 'skipped', reason, summary };
}

/** Records a firing that does not happen. */
async function skip({ log }: CompositeDeps, tx: Tx, firing: Firing): Promise<void> {
  const { chain, repository, reason, summary } = firing;
  if (await tx.firings.insert(firing)) log.warn({ chain, repository, reason }, summary ?? 'did not fire');
}

/** Forgets the instances that expire first, so that a flood of pull requests or commits cannot fill the database. */
async function crowdOut(
  deps: CompositeDeps,
  tx: Tx,
  of: Pick<CompositeRow, 'repositoryId' | 'chain'>,
): Promise<void> {
  for (const row of await tx.composites.beyond(of, MAX_KEYS)) {
    const now = deps.clock.now();
    const firing = firingOf(row, `crowded ${row.expiresAt.toISOString()}`, now, deps.ids, now);
    const summary = compositeCrowdedOut(row.composite, row.key, MAX_KEYS);
    if (progressOf(row.composite, row.state)) await skip(deps, tx, skipped(firing, 'crowded_out', summary));
    await tx.composites.remove(row);
  }
}

/** Deletes what has expired, and records each composite that had begun and did not fire. */
export async function expireComposites(
  deps: Pick<CompositeDeps, 'clock' | 'ids'>,
  tx: Tx,
  limit: number,
): Promise<{ expired: number; firings: Firing[] }> {
  const now = deps.clock.now();
  const rows = await tx.composites.expired(now, limit);
  const firings: Firing[] = [];
  for (const row of rows) {
    const progress = progressOf(row.composite, row.state);
    if (progress) {
      const firing = firingOf(row, `expired ${row.expiresAt.toISOString()}`, row.expiresAt, deps.ids, now);
      const summary = compositeExpired(row.composite, row.key, progress);
      const expired = skipped(firing, 'expired', summary);
      if (await tx.firings.insert(expired)) firings.push(expired);
    }
    await tx.composites.remove(row);
  }
  return { expired: rows.length, firings };
}
