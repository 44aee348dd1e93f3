import { formatDiagnostic, notAllowed } from '../../core/diagnostic.ts';
import { aboutNothing } from '../../domain/audit/entry.ts';
import { SETTINGS_FILE } from '../../domain/chain/configuration-files.ts';
import { requiredInputs } from '../../domain/chain/required-inputs.ts';
import { nameOf } from '../../domain/chain/scope.ts';
import { cannotWorkOn, workingOfStep } from '../../domain/chain/subject.ts';
import { mentionsPaths } from '../../domain/chain/trigger-members.ts';
import type { EventOf, RepositoryEvent } from '../../domain/event/event.ts';
import { actorOf } from '../../domain/run/actor.ts';
import { newRun } from '../../domain/run/new-run.ts';
import { newerRun } from '../../domain/run/plan.ts';
import type { RunFacts } from '../../domain/run/run.ts';
import { commandReply } from '../../messages/comments/command-reply.ts';
import { type NotBegun, notBegun } from '../../messages/comments/not-begun.ts';
import { heldBecause } from '../../messages/run/held-chain.ts';
import type { GitHub, PullRequest } from '../../ports/github.ts';
import type { Tx } from '../../ports/storage.ts';
import type { Configuration, ConfigurationLoader } from '../configuration/configuration.ts';
import { newerCommand } from './applied-commands.ts';
import { auditConfiguration } from './audit-configuration.ts';
import {
  governedBy,
  type PullRequestDeps,
  pullRequestNow,
  repositoryFacts,
  runFactsOf,
} from './on-pull-request.ts';

/**
 * Starts a chain because a person asked for it, whatever its trigger. An unfinished run of it is superseded.
 * If the event is processed again, for example after a crash, it finds that run and starts none.
 */
export async function fireByHand(
  deps: PullRequestDeps,
  event: EventOf<'manual.fired'>,
  deliveryId: number | null,
): Promise<void> {
  const { engine, log } = deps;
  if (event.pull_request === null) return fireForBranch(deps, event, deliveryId);
  const repo = event.repository;
  const reader = deps.github.reader(event.installation_id, 'person');
  const pullRequest = await reader.pullRequest(repo, event.pull_request);
  const configuration = await deps.configuration.forPullRequest(event.installation_id, repo, pullRequest);
  const chain = configuration?.chains.find((candidate) => candidate.name === event.chain);
  const because = cannotFire(configuration, pullRequest, event);
  if (!configuration || !chain || because !== undefined) {
    log.warn({ chain: event.chain, pull_request: event.pull_request, because }, 'the fired chain cannot run');
    await deps.storage.transaction((tx) => auditRefusal(tx, event, deliveryId, because ?? ''));
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
      await auditRefusal(tx, event, deliveryId, notBegun(chain.name, because).replaceAll('`', ''));
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
          ...governedBy(configuration),
          trigger: { ...inputMembers(event), ...facts.trigger, actor: event.actor },
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
    for (const run of unfinished) {
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

/** Starts a chain that needs no pull request, for the newest commit of a branch. Other runs of it go on. */
async function fireForBranch(
  deps: PullRequestDeps,
  event: EventOf<'manual.fired'>,
  deliveryId: number | null,
): Promise<void> {
  const { repository } = event;
  const found = await branchToFire(deps, event);
  const chain = found.configuration?.chains.find(({ name }) => name === event.chain);
  const { configuration, headSha, branch, defaultBranch } = found;
  const because = cannotFireForBranch(found, event);
  if (!configuration || !chain || headSha === undefined || because !== undefined) {
    deps.log.warn({ chain: event.chain, repository, because }, 'the fired chain cannot run');
    await deps.storage.transaction((tx) => auditRefusal(tx, event, deliveryId, because ?? ''));
    return;
  }
  const facts: RunFacts = {
    repo: repositoryFacts(event, defaultBranch),
    trigger: {
      ...inputMembers(event),
      kind: 'manual',
      event: event.kind,
      actor: event.actor,
      head_sha: headSha,
      branch,
    },
    ...governedBy(configuration),
  };
  await deps.storage.transaction(async (tx) => {
    if (event.run_id !== undefined && (await tx.runs.load(event.run_id))) return;
    await auditConfiguration(tx, event, branch, configuration, actorOf(event, deliveryId));
    const state = newRun(
      {
        ...(event.run_id !== undefined && { id: event.run_id }),
        chain,
        settings: configuration.settings,
        event,
        deliveryId,
        pullRequest: null,
        headSha,
        baseRef: branch,
        baseSha: configuration.sha,
        facts,
        paused: false,
      },
      deps.ids,
      deps.clock.now(),
    );
    await deps.engine.begin(tx, state);
  });
}

function inputMembers({ inputs }: EventOf<'manual.fired'>): Record<string, string> {
  return Object.fromEntries(Object.entries(inputs).map(([key, value]) => [`input_${key}`, value]));
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

/** Why the chain cannot be fired for the branch, as a sentence without its full stop. */
export function cannotFireForBranch(
  { branch, headSha, configuration }: BranchToFire,
  asked: Pick<EventOf<'manual.fired'>, 'chain' | 'inputs' | 'again'>,
): string | undefined {
  if (headSha === undefined || !configuration) return `there is no branch ${branch}`;
  const because = cannotRun(configuration, asked);
  if (because !== undefined) return because;
  const steps = configuration.chains.find(({ name }) => name === asked.chain)?.steps ?? [];
  const unfit = cannotWorkOn('commit', steps.map(workingOfStep));
  return unfit === undefined ? undefined : `the chain "${asked.chain}" is fired for a branch, and ${unfit}`;
}

/**
 * Why the chain cannot be fired for the pull request, as a sentence without its full stop.
 * @param configuration `undefined` if the base branch does not exist
 */
export function cannotFire(
  configuration: Pick<Configuration, 'chains' | 'broken' | 'held' | 'read'> | undefined,
  { number, state, baseRef }: Pick<PullRequest, 'number' | 'state' | 'baseRef'>,
  asked: Pick<EventOf<'manual.fired'>, 'chain' | 'inputs' | 'again'>,
): string | undefined {
  if (state === 'closed') return `#${number} is closed`;
  if (!configuration) return `there is no branch ${baseRef}`;
  return cannotRun(configuration, asked);
}

/** What is the same for every subject. */
function cannotRun(
  configuration: Pick<Configuration, 'chains' | 'broken' | 'held' | 'read'>,
  { chain: name, inputs, again }: Pick<EventOf<'manual.fired'>, 'chain' | 'inputs' | 'again'>,
): string | undefined {
  const because = notInForce(configuration, name);
  if (because !== undefined) return because;
  const chain = configuration.chains.find((candidate) => candidate.name === name);
  if (!chain) return `there is no chain "${name}"`;
  // A run that begins again has the inputs that it had.
  const missing = again === undefined ? requiredInputs(chain).filter((key) => inputs[key] === undefined) : [];
  return missing.length === 0
    ? undefined
    : `the chain "${name}" needs ${missing.map((key) => `${key}=…`).join(' and ')}`;
}

/** Why no run of the chain can begin, as a clause: it is held, broken or not there; `undefined` if one can. */
export function notInForce(
  { chains, broken, held = [], read }: Pick<Configuration, 'chains' | 'broken' | 'held' | 'read'>,
  name: string,
): string | undefined {
  const hold = held.find((one) => one.name === name);
  if (hold) return heldBecause(hold);
  if (chains.some((candidate) => candidate.name === name)) return undefined;
  const file =
    broken.find((one) => one.kind === 'settings') ?? broken.find((one) => isFileOf(name, one.file));
  const [first] = file?.diagnostics ?? [];
  if (first) return `the chain "${name}" cannot run: ${formatDiagnostic(first)}`;
  if (Object.values(read.chains).some((parsed) => parsed.some((one) => nameOf(one) === name)))
    return `the chain "${name}" does not run here: name it under "chains" in ${SETTINGS_FILE}`;
  return notAllowed(
    `there is no chain "${name}"`,
    chains.map((candidate) => candidate.name),
    name,
  );
}

function isFileOf(chain: string, file: string): boolean {
  return (
    file
      .split('/')
      .at(-1)
      ?.replace(/\.ya?ml$/, '') === chain
  );
}

/** The answer that `countersign chain fire` waits for. */
async function auditRefusal(
  tx: Tx,
  event: EventOf<'manual.fired'>,
  deliveryId: number | null,
  because: string,
): Promise<void> {
  const { repository, asked_by, run_id, pull_request, chain } = event;
  if (!asked_by || run_id === undefined) return;
  await tx.audit.record(
    {
      kind: 'command.refused',
      ...aboutNothing(actorOf(event, deliveryId)),
      repository: { id: repository.id, name: `${repository.owner}/${repository.name}` },
      pull_request,
      run_id,
      verb: asked_by.verb,
      chain,
      because,
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
  const { marker, body } = commandReply(run_id, [{ ok: false, text: notBegun(chain, because) }]);
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
