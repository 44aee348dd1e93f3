import { chainNamed } from '../../domain/chain/chain-list.ts';
import { explainTriggers } from '../../domain/chain/trigger.ts';
import { ONE_TIME_EVENTS } from '../../domain/chain/trigger-schema.ts';
import type { Event, EventOf } from '../../domain/event/event.ts';
import { decideForHead, planRuns, triggerFacts } from '../../domain/run/plan.ts';
import { withProgress } from './composites.ts';
import { type ChainExplained, type DecisionDeps, explainOnce, type OneTimeEvent } from './fire-once.ts';
import { reopeningOf, runsFollowing } from './on-pull-request.ts';
import { pullRequestNow, repositoryFacts } from './run-facts.ts';

/**
 * What a chain makes of an event, by the functions that decide it when the event arrives, and by what GitHub shows now.
 * `undefined` for events that no trigger waits for.
 */
export async function explainEvent(
  deps: DecisionDeps,
  event: Event,
  chain: string,
): Promise<ChainExplained | undefined> {
  switch (event.kind) {
    case 'pr.opened':
    case 'pr.updated':
      return explainHead(deps, event, chain);
    default:
      return isOneTime(event) ? explainOnce(deps, event, chain) : undefined;
  }
}

function isOneTime(event: Event): event is OneTimeEvent {
  return ONE_TIME_EVENTS.some((kind) => kind === event.kind);
}

/** The triggers are explained for a closed pull request, too: people ask later. */
async function explainHead(
  { storage, github, configuration: loader }: DecisionDeps,
  event: EventOf<'pr.opened' | 'pr.updated'>,
  name: string,
): Promise<ChainExplained> {
  const { installation_id: installationId, repository: repo, pull_request: number } = event;
  const reader = github.reader(installationId);
  const pullRequest = await reader.pullRequest(repo, number);
  const [configuration, listed] = await Promise.all([
    loader.forPullRequest(installationId, repo, pullRequest),
    reader.pullRequestFiles(repo, number),
  ]);
  const chain = configuration && chainNamed(configuration.chains, name);
  if (!configuration || !chain) return { configuration };
  const now = pullRequestNow(pullRequest, listed);
  const repository = repositoryFacts(event, pullRequest.defaultBranch);
  const { chains, held, rollout } = configuration;
  const subject = { repositoryId: repo.id, pullRequest: number };
  const runs = await runsFollowing(storage.read, subject, pullRequest.headSha, chains);
  const reopening = await reopeningOf(storage.read, event, pullRequest);
  const { cancel } = planRuns(now, chains, runs, repository, reopening, held, rollout);
  const cancelled = new Set(cancel.map(({ runId }) => runId));
  const triggers = explainTriggers(chain, {
    event: event.kind,
    repository,
    pull_request: triggerFacts(now),
  });
  const about = { pullRequest: number, headSha: pullRequest.headSha };
  return {
    configuration,
    triggers: await withProgress(storage.read, chain, triggers, [
      { repositoryId: repo.id, branch: configuration.branch, subject: about },
    ]),
    decision: decideForHead(chain, now, {
      runs,
      cancelled,
      repository,
      reopening,
      held: held ?? [],
      rollout,
    }),
  };
}
