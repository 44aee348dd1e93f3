import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Chain } from '../../domain/chain/chain.ts';
import type { EventOf } from '../../domain/event/event.ts';
import { isAtLeast } from '../../domain/policy/role.ts';
import type { ConfigurationLoader } from '../../engine/configuration/configuration.ts';
import type { GitHub } from '../../ports/github.ts';
import type { Cause } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Storage } from '../../ports/storage.ts';
import { asksApp } from './asks-app.ts';

/** How many replies are answered in a day: of one conversation, and of all conversations of a pull request. */
const ANSWERED_IN_THREAD = 5;
const ANSWERED_IN_PULL_REQUEST = 20;
const DAY_MS = 86_400_000;
/** The newest runs of a pull request, in which a step may forbid that a model reads it. */
const RUNS = 50;

/** Whether a step says `model: false`, or something that could become that. */
function mayForbidModel({ with: { model } }: Chain['steps'][number]): boolean {
  return model === false || (typeof model === 'string' && model.includes('{{'));
}

/**
 * Handles replies in conversations on lines: one that asks something about a finding of this app, by somebody with write access, is
 * answered once by a model. All others get nothing, not even a refusal: people talk to each other there. Authors without write access are
 * among them, as for `/countersign ask`, because anybody can open pull requests, and each answer spends the budget that reviews need.
 */
export function createThreadHandler(deps: {
  storage: Storage;
  queue: Queue;
  github: GitHub;
  configuration: ConfigurationLoader;
  clock: Clock;
  log: Log;
  hasModel: boolean;
}): (event: EventOf<'thread.replied'>, cause: Cause | null) => Promise<void> {
  const { storage, queue, github, clock, log } = deps;

  async function whyNot(event: EventOf<'thread.replied'>): Promise<string | undefined> {
    const { installation_id, repository, pull_request, thread, actor } = event;
    if (!deps.hasModel) return 'no language model is configured';
    const since = new Date(clock.now().getTime() - DAY_MS);
    const of = { repositoryId: repository.id, pullRequest: pull_request };
    const asked = await storage.read.threadReplies.threadsSince(of, since);
    if (asked.length >= ANSWERED_IN_PULL_REQUEST) return 'the pull request had its answers for today';
    if (asked.filter((one) => one === thread).length >= ANSWERED_IN_THREAD)
      return 'the conversation had its answers for today';
    const runs = await storage.read.runs.list({ ...of, limit: RUNS });
    if (runs.length === 0 || runs.some(({ definition }) => definition.steps.some(mayForbidModel)))
      return 'a chain may forbid that a model reads the pull request';
    const rollout = await deps.configuration.rolloutOf(installation_id, repository, { urgency: 'person' });
    if (rollout.level === 'off') return 'the rollout is off';
    const reader = github.reader(installation_id, 'person');
    if (!isAtLeast(await reader.role(repository, actor), 'write')) return 'its author has no write access';
    const conversation = await reader.ownThread(repository, pull_request, thread);
    if (!conversation) return 'it is no conversation of this app';
    return asksApp(conversation, event.comment_id) ? undefined : 'it does not ask this app';
  }

  return async (event, cause) => {
    const { installation_id, repository, pull_request, comment_id, thread, actor } = event;
    const because = await whyNot(event);
    if (because !== undefined) log.info({ pull_request, actor, because }, 'a reply is not answered');
    await storage.transaction(async (tx) => {
      const isNew =
        because === undefined &&
        (await tx.threadReplies.add({
          commentId: comment_id,
          thread,
          repositoryId: repository.id,
          pullRequest: pull_request,
          askedBy: actor,
          at: clock.now(),
        }));
      if (isNew)
        await queue.enqueue(tx, {
          kind: 'thread',
          installationId: installation_id,
          key: `thread:${thread}`,
          payload: { installation_id, repository, pull_request, comment_id, thread, asked_by: actor },
        });
      await cause?.end?.(tx);
    });
  };
}
