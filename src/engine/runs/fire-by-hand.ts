import { formatDiagnostic, notAllowed } from '../../core/diagnostic.ts';
import { aboutNothing } from '../../domain/audit/entry.ts';
import { chainNamed } from '../../domain/chain/chain-list.ts';
import { SETTINGS_FILE } from '../../domain/chain/configuration-files.ts';
import { readFired } from '../../domain/chain/fired-inputs.ts';
import { nameOf } from '../../domain/chain/scope.ts';
import { cannotWorkOn, workingOfStep } from '../../domain/chain/subject.ts';
import { mentionsPaths } from '../../domain/chain/trigger-members.ts';
import { sourcesOfChain } from '../../domain/chain/trigger-schema.ts';
import type { EventOf, RepositoryEvent } from '../../domain/event/event.ts';
import { rolloutInWords } from '../../domain/policy/rollout.ts';
import { actorOf, OPERATOR } from '../../domain/run/actor.ts';
import { rootOf } from '../../domain/run/child.ts';
import { newRun } from '../../domain/run/new-run.ts';
import { newerRun } from '../../domain/run/plan.ts';
import type { RunFacts } from '../../domain/run/run.ts';
import { commandReply } from '../../messages/comments/command-reply.ts';
import { type NotBegun, notBegun } from '../../messages/comments/not-begun.ts';
import { heldBecause } from '../../messages/run/held-chain.ts';
import { fireRefused } from '../../messages/run/requested.ts';
import { type GitHub, GitHubError, type PullRequest, type Repo } from '../../ports/github.ts';
import type { Cause } from '../../ports/jobs.ts';
import type { Tx } from '../../ports/storage.ts';
import type { Configuration, ConfigurationLoader } from '../configuration/configuration.ts';
import { newerCommand } from './applied-commands.ts';
import { auditConfiguration } from './audit-configuration.ts';
import type { PullRequestDeps } from './on-pull-request.ts';
import { governedBy, pullRequestNow, repositoryFacts, runFactsOf } from './run-facts.ts';

/**
 * Starts a chain because a person asked for it, whatever its trigger. An unfinished run of it is superseded.
 * If the event is processed again, for example after a crash, it finds that run and starts none.
 */
export async function fireByHand(
  deps: PullRequestDeps,
  event: EventOf<'manual.fired'>,
  cause: Cause | null,
): Promise<void> {
  const { engine, log } = deps;
  const deliveryId = cause?.deliveryId ?? null;
  if (event.pull_request === null) return fireForBranch(deps, event, cause);
  const repo = event.repository;
  const reader = deps.github.reader(event.installation_id, 'person');
  const pullRequest = await reader.pullRequest(repo, event.pull_request).catch((error) => {
    // An operator can name one that does not exist. A command in a comment names one that does.
    if (event.actor === OPERATOR && error instanceof GitHubError && error.kind === 'not_found')
      return undefined;
    throw error;
  });
  if (!pullRequest) {
    const because = noSuchPullRequest(repo, event.pull_request);
    log.warn({ chain: event.chain, pull_request: event.pull_request, because }, 'the fired chain cannot run');
    await deps.storage.transaction((tx) => auditRefusal(tx, event, deliveryId, { because }));
    return;
  }
  const configuration = await deps.configuration.forPullRequest(event.installation_id, repo, pullRequest);
  const chain = configuration && chainNamed(configuration.chains, event.chain);
  const refused = cannotFire(configuration, pullRequest, event);
  const inputs = chain && readFired(chain, event.inputs, { again: event.again !== undefined });
  if (!configuration || !chain || refused || !inputs || 'problem' in inputs) {
    const because = refused?.because;
    log.warn({ chain: event.chain, pull_request: event.pull_request, because }, 'the fired chain cannot run');
    await deps.storage.transaction((tx) => auditRefusal(tx, event, deliveryId, refused));
    return;
  }
  const begunBy = await originalEvent(deps, event);
  const paths = mentionsPaths(chain, configuration.settings.gates)
    ? pullRequestNow(pullRequest, await reader.pullRequestFiles(repo, event.pull_request)).changedPaths
    : undefined;
  const facts = runFactsOf(begunBy, pullRequest, repositoryFacts(event, pullRequest.defaultBranch), paths);
  await deps.storage.transaction(async (tx) => {
    if (event.run_id !== undefined && (await tx.runs.load(event.run_id))) return;
    const because = await refusal(tx, event, pullRequest);
    if (because) {
      log.info({ chain: chain.name, pull_request: pullRequest.number }, 'a fired chain has not begun');
      await replyNotStarted(deps, tx, event, pullRequest.number, because);
      const refusal = { because: notBegun(chain.name, because).replaceAll('`', '') };
      await auditRefusal(tx, event, deliveryId, refusal);
      return;
    }
    await auditConfiguration(tx, event, pullRequest.baseRef, configuration, actorOf(event, deliveryId));
    const row = await tx.pullRequests.get(event.repository.id, pullRequest.number);
    const state = newRun(
      {
        ...(event.run_id !== undefined && { id: event.run_id }),
        chain,
        settings: configuration.settings,
        event: begunBy,
        deliveryId,
        pullRequest: pullRequest.number,
        headSha: pullRequest.headSha,
        baseRef: pullRequest.baseRef,
        baseSha: configuration.sha,
        facts: {
          ...facts,
          ...governedBy(configuration, chain),
          trigger: { ...inputs.members, ...facts.trigger, actor: event.actor },
          inputs: inputs.values,
        },
        paused: (row?.pausedBy ?? null) !== null,
      },
      deps.ids,
      deps.clock.now(),
    );
    const unfinished = await tx.runs.list({
      repositoryId: event.repository.id,
      pullRequest: pullRequest.number,
      chain: chain.name,
      active: true,
    });
    for (const run of unfinished.filter(({ facts }) => !facts.parent)) {
      await engine.signal(
        tx,
        run.id,
        { kind: 'end', status: 'cancelled', reason: newerRun(state.run, event.actor) },
        actorOf(event, deliveryId),
      );
    }
    await engine.begin(tx, state);
  });
}

/**
 * Starts a chain that needs no pull request, for the newest commit of a branch, or again for what an earlier run was about.
 * Other runs of it go on.
 */
async function fireForBranch(
  deps: PullRequestDeps,
  event: EventOf<'manual.fired'>,
  cause: Cause | null,
): Promise<void> {
  const { storage, clock, log } = deps;
  const deliveryId = cause?.deliveryId ?? null;
  const before = event.again === undefined ? undefined : (await storage.read.runs.load(event.again))?.run;
  const found = await branchToFire(deps, before ? { ...event, ref: before.baseRef } : event);
  const { configuration, branch, defaultBranch } = found;
  const headSha = before?.headSha ?? found.headSha;
  const chain = configuration?.chains.find(({ name }) => name === event.chain);
  const refused = cannotFireForBranch(found, event);
  const inputs = chain && readFired(chain, event.inputs, { again: before !== undefined });
  if (!configuration || !chain || headSha === undefined || refused || !inputs || 'problem' in inputs) {
    const because = refused?.because ?? '';
    log.warn({ chain: event.chain, repository: event.repository, because }, 'the fired chain cannot run');
    await storage.transaction(async (tx) => {
      await auditRefusal(tx, event, deliveryId, refused);
      await recordRefusal(deps, tx, event, deliveryId, because);
      await cause?.end?.(tx);
    });
    return;
  }
  // What brought the subject of the earlier run counts for its trust, and not who asked for it again.
  const isOther = before && before.event.kind !== 'manual.fired' && 'repository' in before.event;
  const facts: RunFacts = {
    repo: repositoryFacts(event, defaultBranch),
    trigger: before
      ? { ...before.facts.trigger, ...inputs.members, ...(isOther ? {} : { actor: event.actor }) }
      : {
          ...inputs.members,
          kind: 'manual',
          event: event.kind,
          actor: event.actor,
          head_sha: headSha,
          branch,
        },
    inputs: inputs.values,
    ...(before?.facts.fired && { fired: before.facts.fired }),
    ...(before?.facts.broughtBy && { broughtBy: before.facts.broughtBy }),
    ...(before?.facts.depth !== undefined && { depth: before.facts.depth, root: rootOf(before) }),
    ...governedBy(configuration, chain),
  };
  await storage.transaction(async (tx) => {
    if (event.run_id !== undefined && (await tx.runs.load(event.run_id))) return;
    await auditConfiguration(tx, event, branch, configuration, actorOf(event, deliveryId));
    const state = newRun(
      {
        ...(event.run_id !== undefined && { id: event.run_id }),
        chain,
        settings: configuration.settings,
        event: isOther ? (before.event as RepositoryEvent) : event,
        deliveryId,
        pullRequest: null,
        headSha,
        baseRef: branch,
        baseSha: configuration.sha,
        facts,
        paused: false,
      },
      deps.ids,
      clock.now(),
    );
    await deps.engine.begin(tx, state);
    await cause?.end?.(tx);
  });
}

/** A dispatch and a button have no place for an answer, so their refusals have a row, as those of other triggers. */
async function recordRefusal(
  { ids, clock }: PullRequestDeps,
  tx: Tx,
  event: EventOf<'manual.fired'>,
  deliveryId: number | null,
  because: string,
): Promise<void> {
  const { asked_by, again, dispatched, chain, repository, installation_id } = event;
  if (asked_by || (again === undefined && !dispatched)) return;
  const now = clock.now();
  await tx.firings.insert({
    id: ids.next('fir'),
    repositoryId: repository.id,
    chain,
    trigger: again === undefined ? 'repository_dispatch' : 're-run',
    occasion: `${again ?? ''}${deliveryId ?? event.run_id ?? now.toISOString()}`,
    installationId: installation_id,
    repository: `${repository.owner}/${repository.name}`,
    status: 'skipped',
    reason: 'refused',
    summary: because,
    count: 1,
    runId: event.run_id ?? again ?? ids.next('run'),
    pullRequest: event.pull_request,
    dueAt: now,
    updatedAt: now,
  });
}

/** The branch that a chain is fired for, its newest commit, and the configuration that governs it. */
export interface BranchToFire {
  branch: string;
  defaultBranch: string;
  /** `undefined` if there is no such branch, as is the configuration. */
  headSha: string | undefined;
  configuration: Configuration | undefined;
}

export async function branchToFire(
  {
    github,
    configuration,
  }: { github: Pick<GitHub, 'reader'>; configuration: Pick<ConfigurationLoader, 'forPullRequest'> },
  {
    installation_id,
    repository,
    ref,
  }: Pick<EventOf<'manual.fired'>, 'installation_id' | 'repository' | 'ref'>,
): Promise<BranchToFire> {
  const reader = github.reader(installation_id, 'person');
  const { defaultBranch } = await reader.repository(repository);
  const branch = ref ?? defaultBranch;
  const headSha = await reader.branchTip(repository, branch);
  const found =
    headSha === undefined
      ? undefined
      : await configuration.forPullRequest(installation_id, repository, { baseRef: branch, defaultBranch });
  return { branch, defaultBranch, headSha, configuration: found };
}

/** Why a chain cannot be fired, as a sentence without its full stop. */
export interface Refused {
  because: string;
  /** It could be fired with other inputs. */
  of?: 'inputs';
}

type Asked = Pick<EventOf<'manual.fired'>, 'chain' | 'again'> & {
  inputs: Readonly<Record<string, unknown>>;
};

/** `undefined` if it can be fired for the branch. */
export function cannotFireForBranch(
  { branch, headSha, configuration }: BranchToFire,
  asked: Asked & Pick<EventOf<'manual.fired'>, 'dispatched'>,
): Refused | undefined {
  if (headSha === undefined || !configuration) return { because: `there is no branch ${branch}` };
  const refused = cannotRun(configuration, asked);
  if (refused) return refused;
  const chain = configuration.chains.find(({ name }) => name === asked.chain);
  // Less than maintainers may send it, so the chain must expect it.
  if (asked.dispatched && chain && !sourcesOfChain(chain).includes('manual.fired'))
    return { because: `the chain "${asked.chain}" has no trigger manual.fired, so it cannot be dispatched` };
  const unfit = cannotWorkOn('commit', (chain?.steps ?? []).map(workingOfStep));
  return unfit === undefined
    ? undefined
    : { because: `the chain "${asked.chain}" is fired for a branch, and ${unfit}` };
}

/**
 * `undefined` if it can be fired for the pull request.
 * @param configuration `undefined` if the base branch does not exist
 */
export function cannotFire(
  configuration: Pick<Configuration, 'chains' | 'broken' | 'held' | 'read' | 'rollout'> | undefined,
  { number, state, baseRef }: Pick<PullRequest, 'number' | 'state' | 'baseRef'>,
  asked: Asked,
): Refused | undefined {
  if (state === 'closed') return { because: `#${number} is closed` };
  if (!configuration) return { because: `there is no branch ${baseRef}` };
  return cannotRun(configuration, asked);
}

/** What is the same for every subject. */
function cannotRun(
  configuration: Pick<Configuration, 'chains' | 'broken' | 'held' | 'read' | 'rollout'>,
  { chain: name, inputs, again }: Asked,
): Refused | undefined {
  const because = notInForce(configuration, name);
  if (because !== undefined) return { because };
  const chain = configuration.chains.find((candidate) => candidate.name === name);
  if (!chain) return { because: `there is no chain "${name}"` };
  const read = readFired(chain, inputs, { again: again !== undefined });
  return 'problem' in read
    ? { because: `the chain "${name}" cannot run with these inputs: ${read.problem}`, of: 'inputs' }
    : undefined;
}

/** Why nothing can be fired for a pull request, as a clause. */
export function noSuchPullRequest({ owner, name }: Repo, number: number): string {
  return `there is no pull request ${number} in ${owner}/${name}`;
}

/** Why no run of the chain can begin, as a clause: it is held, broken or not there; `undefined` if one can. */
export function notInForce(
  {
    chains,
    broken,
    held = [],
    read,
    rollout,
  }: Pick<Configuration, 'chains' | 'broken' | 'held' | 'read' | 'rollout'>,
  name: string,
): string | undefined {
  if (rollout.level === 'off') return rolloutInWords(rollout);
  const hold = held.find((one) => one.name === name);
  if (hold) return heldBecause(hold);
  if (chains.some((candidate) => candidate.name === name)) return undefined;
  const file = broken.find((one) => one.kind === 'settings') ?? broken.find((one) => one.chain === name);
  const [first] = file?.diagnostics ?? [];
  if (first) return `the chain "${name}" cannot run: ${formatDiagnostic(first)}`;
  return (
    noSuchChain({ chains, read }, name) ??
    `the chain "${name}" does not run here: name it under "chains" in ${SETTINGS_FILE}`
  );
}

/** That no file has a chain of this name, with those that run here, as a clause; `undefined` if one has. */
export function noSuchChain(
  { chains, read }: Pick<Configuration, 'chains' | 'read'>,
  name: string,
): string | undefined {
  if (Object.values(read.chains).some((parsed) => parsed.some((one) => nameOf(one) === name)))
    return undefined;
  return notAllowed(
    `there is no chain "${name}"`,
    chains.map((candidate) => candidate.name),
    name,
  );
}

/** Whether Studio has said to somebody that the chain is fired. Their row has the id of the run that they wait for. */
async function waitsInStudio(tx: Tx, runId: string): Promise<boolean> {
  return (await tx.studioCommands.get(runId))?.answer?.ok === true;
}

/** The answer that `countersign chain fire` waits for, and somebody in Studio. */
async function auditRefusal(
  tx: Tx,
  event: EventOf<'manual.fired'>,
  deliveryId: number | null,
  refused: Refused | undefined,
): Promise<void> {
  const { repository, asked_by, run_id, pull_request, chain } = event;
  if (!asked_by || run_id === undefined) return;
  if (refused && (await waitsInStudio(tx, run_id)))
    await tx.studioCommands.answer(run_id, { ok: false, text: fireRefused(chain, refused.because) });
  await tx.audit.record(
    {
      kind: 'command.refused',
      ...aboutNothing(actorOf(event, deliveryId)),
      repository: { id: repository.id, name: `${repository.owner}/${repository.name}` },
      pull_request,
      run_id,
      verb: asked_by.verb,
      chain,
      because: refused?.because ?? '',
      ...(refused?.of && { of: refused.of }),
    },
    `refused:${run_id}`,
  );
}

/** The command waited in the queue, so somebody may have pushed or given another command since. */
async function refusal(
  tx: Tx,
  { asked_by, repository, chain }: EventOf<'manual.fired'>,
  { number, headSha }: PullRequest,
): Promise<NotBegun | undefined> {
  if (!asked_by) return undefined;
  const { verb, given, head_sha } = asked_by;
  if (head_sha !== undefined && head_sha !== headSha)
    return { kind: 'head_moved', from: head_sha, to: headSha };
  const place = { repositoryId: repository.id, pullRequest: number };
  const newer = await newerCommand(tx, place, { kind: 'begin', verb, chain, newRun: true }, given);
  return newer && { kind: 'overtaken', verb: newer.verb, actor: newer.actor };
}

/** The author of the command had the reply that the chain is fired. */
async function replyNotStarted(
  { outbox, clock }: PullRequestDeps,
  tx: Tx,
  { installation_id, repository, run_id, chain }: EventOf<'manual.fired'>,
  issue: number,
  because: NotBegun,
): Promise<void> {
  if (run_id === undefined) return;
  const answer = { ok: false, text: notBegun(chain, because) };
  if (await waitsInStudio(tx, run_id)) return tx.studioCommands.answer(run_id, answer);
  const { marker, body } = commandReply(run_id, [answer]);
  const place = { installation_id, owner: repository.owner, repo: repository.name };
  await outbox.request(
    tx,
    `command:${run_id}:reply`,
    { kind: 'comment', ...place, issue, marker, body },
    { runId: null, at: clock.now() },
  );
}

/**
 * If a command restarts a run that a trigger started, the new run keeps that trigger, and ends like such runs
 * when it no longer applies to the pull request.
 */
async function originalEvent(
  { storage }: PullRequestDeps,
  event: EventOf<'manual.fired'>,
): Promise<RepositoryEvent> {
  if (event.again === undefined) return event;
  const before = (await storage.read.runs.load(event.again))?.run.event;
  return before === undefined || before.kind === 'manual.fired' || !('repository' in before) ? event : before;
}
