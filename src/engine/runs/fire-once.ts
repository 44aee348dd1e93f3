import { unreachable } from '../../core/errors.ts';
import { redactValue } from '../../core/redact/redact.ts';
import type { Chain } from '../../domain/chain/chain.ts';
import { type TriggerFacts, triggerMatches } from '../../domain/chain/trigger.ts';
import type { TriggerFactsOf } from '../../domain/chain/trigger-members.ts';
import type { EventOf } from '../../domain/event/event.ts';
import { actorOf } from '../../domain/run/actor.ts';
import { firedOnce } from '../../domain/run/fired-once.ts';
import { newRun } from '../../domain/run/new-run.ts';
import { triggerFacts } from '../../domain/run/plan.ts';
import { governingBranch, type RunFacts } from '../../domain/run/run.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { auditConfiguration } from './audit-configuration.ts';
import {
  governedBy,
  type PullRequestDeps,
  pullRequestNow,
  repositoryFacts,
  runFactsOf,
} from './on-pull-request.ts';

export type OneTimeEvent = EventOf<'pr.merged' | 'pr.closed' | 'issue.created' | 'file.changed'>;

/** The subject of a one-time event, in the terms of runs and triggers. */
interface Subject {
  pullRequest: number | null;
  headSha: string;
  baseRef: string;
  defaultBranch: string;
  trigger: RunFacts['trigger'];
  facts: Pick<TriggerFacts, 'pull_request' | 'issue' | 'push'>;
}

/**
 * Starts the chains for events that happen once: a merge, a close, a new issue, a push. If the delivery is
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
  const configuration = await governing(deps, event);
  const isHeld = (chain: Chain) => configuration?.held?.some(({ name }) => name === chain.name);
  const waiting =
    configuration?.chains.filter((chain) => chain.trigger.event === event.kind && !isHeld(chain)) ?? [];
  if (!configuration || waiting.length === 0) return undefined;
  return () => fire(deps, event, deliveryId, configuration, waiting);
}

async function fire(
  deps: PullRequestDeps,
  event: OneTimeEvent,
  deliveryId: number | null,
  configuration: Configuration,
  waiting: readonly Chain[],
): Promise<void> {
  const subject = await subjectOf(deps, event);
  const repository = repositoryFacts(event, subject.defaultBranch);
  const firingNow = waiting.filter(
    (chain) => triggerMatches(chain, { event: event.kind, repository, ...subject.facts }).matches,
  );
  await deps.storage.transaction(async (tx) => {
    await auditConfiguration(tx, event, subject.baseRef, configuration, actorOf(event, deliveryId));
    for (const chain of firingNow) {
      const earlier = await tx.runs.list({
        repositoryId: event.repository.id,
        headSha: subject.headSha,
        chain: chain.name,
      });
      const about = firedOnce(redactValue(subject.trigger));
      if (earlier.some((run) => firedOnce(run.facts.trigger) === about)) continue;
      const fired = { repositoryId: event.repository.id, headSha: subject.headSha, chain: chain.name };
      if (await tx.runs.wasFired({ ...fired, subject: about })) continue;
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
          facts: { repo: repository, trigger: subject.trigger, ...governedBy(configuration) },
          paused: false,
        },
        deps.ids,
        deps.clock.now(),
      );
      await deps.engine.begin(tx, state);
    }
  });
}

/**
 * The configuration for the event. An ended pull request uses the one by which it was last judged, so that
 * its own merge does not choose what happens after it. Everything else uses the default branch.
 */
async function governing(deps: PullRequestDeps, event: OneTimeEvent): Promise<Configuration | undefined> {
  const { configuration } = deps;
  const repo = event.repository;
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
        const found = await configuration.atCommit(event.installation_id, repo, at);
        return facts.governed ? { ...found, insteadOf: { base, because: facts.governed.because } } : found;
      }
      const pullRequest = await deps.github
        .reader(event.installation_id)
        .pullRequest(repo, event.pull_request);
      return configuration.forPullRequest(event.installation_id, repo, pullRequest);
    }
    case 'file.changed': {
      const { before_sha: before, head_sha: after, forced, paths } = event;
      if (event.branch !== event.default_branch) {
        return configuration.atBranch(event.installation_id, repo, event.default_branch);
      }
      if (!forced) configuration.pushed(repo, { before, after, paths });
      return configuration.atCommit(event.installation_id, repo, { sha: after, branch: event.branch });
    }
    case 'issue.created': {
      const { defaultBranch } = await deps.github.reader(event.installation_id).repository(repo);
      return configuration.atBranch(event.installation_id, repo, defaultBranch);
    }
    default:
      return unreachable(event);
  }
}

async function subjectOf(deps: PullRequestDeps, event: OneTimeEvent): Promise<Subject> {
  const repo = event.repository;
  const reader = deps.github.reader(event.installation_id);
  switch (event.kind) {
    case 'pr.merged':
    case 'pr.closed': {
      const pullRequest = await reader.pullRequest(repo, event.pull_request);
      const listed = await reader.pullRequestFiles(repo, event.pull_request);
      const { defaultBranch } = pullRequest;
      return {
        pullRequest: event.pull_request,
        headSha: pullRequest.headSha,
        baseRef: pullRequest.baseRef,
        defaultBranch,
        trigger: runFactsOf(event, pullRequest, repositoryFacts(event, defaultBranch)).trigger,
        facts: { pull_request: triggerFacts(pullRequestNow(pullRequest, listed)) },
      };
    }
    case 'issue.created': {
      const { defaultBranch } = await reader.repository(repo);
      return {
        pullRequest: null,
        headSha: '',
        baseRef: defaultBranch,
        defaultBranch,
        trigger: {
          event: event.kind,
          actor: event.author,
          author: event.author,
          title: event.title,
          issue_number: event.issue,
        } satisfies TriggerFactsOf<'issue.created'>,
        facts: { issue: { number: event.issue, author: event.author, labels: event.labels } },
      };
    }
    case 'file.changed':
      return {
        pullRequest: null,
        headSha: event.head_sha,
        baseRef: event.branch,
        defaultBranch: event.default_branch,
        trigger: {
          event: event.kind,
          actor: event.pusher,
          author: event.pusher,
          head_sha: event.head_sha,
          branch: event.branch,
          paths: event.paths,
        } satisfies TriggerFactsOf<'file.changed'>,
        facts: { push: { branch: event.branch, author: event.pusher, changed_paths: event.paths } },
      };
    default:
      return unreachable(event);
  }
}
