import { gitHubPages } from '../config/addresses.ts';
import type { Event, EventOf } from '../domain/event/event.ts';
import { createQuestionPoller } from '../engine/approvals/question-poller.ts';
import {
  type ConfigurationLoader,
  createConfigurationLoader,
} from '../engine/configuration/configuration.ts';
import { createOrganisationMemory } from '../engine/configuration/organisation-memory.ts';
import { createStoredChains } from '../engine/configuration/stored-chains.ts';
import { createGateChecks } from '../engine/effects/gate-check.ts';
import { createOutbox } from '../engine/effects/outbox.ts';
import { createWriters, type Writers } from '../engine/effects/writers.ts';
import { createEngine, type Engine } from '../engine/runs/engine.ts';
import { createListening } from '../engine/runs/listening.ts';
import { onEvent, onEventWithin } from '../engine/runs/on-event.ts';
import { createPublisher } from '../engine/runs/publish.ts';
import { scheduleJobs } from '../engine/runs/schedules.ts';
import { createSessionArtifacts } from '../engine/sessions/artifacts.ts';
import { createContextOf } from '../engine/sessions/context.ts';
import { sessionJobs } from '../engine/sessions/execute.ts';
import { createMergeGroups } from '../engine/sessions/merge-group.ts';
import { notifyJobs } from '../engine/sessions/notify.ts';
import { createRunningLogs } from '../engine/sessions/running-logs.ts';
import { createRunningSessions } from '../engine/sessions/running-sessions.ts';
import { type EndedRuns, endedRuns } from '../engine/traces/traced-jobs.ts';
import { createCommandHandler } from '../entrypoints/commands/handle.ts';
import { createThreadHandler } from '../entrypoints/commands/reply-in-thread.ts';
import { reconcileInstallationJob } from '../entrypoints/recovery/reconcile.ts';
import { type Cause, type JobRunner, reconcileJob } from '../ports/jobs.ts';
import type { Tx } from '../ports/storage.ts';
import type { WorkShare } from '../ports/work-share.ts';
import { askJobs } from '../skills/ask/ask.ts';
import { threadJobs } from '../skills/ask/thread.ts';
import { createSkillKeeper } from '../skills/catalogue/keep.ts';
import { communitySkills } from '../skills/catalogue/sync/community.ts';
import { createRecorder } from '../skills/runtime/trace/record.ts';
import type { Platform } from './platform.ts';
import { shippedChains, shippedSkill, shippedSkills } from './shipped.ts';
import type { Skills } from './skills.ts';

/** The engine, with the jobs and the event handler that drive it. */
export interface EngineParts {
  engine: Engine;
  configuration: ConfigurationLoader;
  writers: Writers;
  /** @param cause the delivery of the event; `null` if it has none */
  onEvent(event: Event, cause: Cause | null): Promise<void>;
  onEventWithin(tx: Tx, event: EventOf<'pr.merged' | 'ci.changed'>, deliveryId: number): Promise<boolean>;
  sessions: JobRunner<'session' | 'review'>;
  mergeGroups: JobRunner<'merge_group'>;
  ask: JobRunner<'ask'>;
  threads: JobRunner<'thread'>;
  questions: JobRunner<'questions'>;
  notify: JobRunner<'notify'>;
  chains: JobRunner<'chains'>;
  schedules: JobRunner<'schedules'>;
  /**
   * Notices what processes change that work beside this one, and forgets what it knew of installations that they worked for meanwhile.
   * @returns stops it
   */
  followOthers(share: WorkShare): () => void;
  /** Runs that are over and not in a trace yet; `undefined` if no traces are sent. */
  ended: EndedRuns | undefined;
}

/**
 * Builds the engine and its dependencies.
 * @param only the only chain that events and times start; by default, each chain in force
 */
export function buildEngine(
  platform: Platform,
  { registry, activation, model, pool, shell }: Skills,
  only?: string,
): EngineParts {
  const { config, storage, blobs, github, queue, clock, ids } = platform;
  const { skills, actions, outcomes, inputOf } = registry;
  const names = { skills, actions, outcomes, inputOf };
  const skillDefaults = {
    artifactDefaults: registry.artifactDefaultsOf,
    produces: registry.producesOf,
    isReview: registry.isReview,
  };
  const keepSkill = createSkillKeeper({ storage, clock });
  const outbox = createOutbox({ queue, ids });
  const storedChains = createStoredChains(storage);
  const configuration = createConfigurationLoader({
    github,
    clock,
    names,
    shipped: shippedChains(names),
    shippedSkills: shippedSkills(),
    communitySkills: communitySkills(storage.read.skills),
    storedChains: storedChains.of,
    keepSkill,
    // A dry run writes nothing anyway.
    rollout: only === undefined ? (config.rollout ?? 'enforce') : 'ignored',
    ...(only !== undefined && { only }),
    memory: createOrganisationMemory(storage, clock),
  });
  const writers = createWriters({ ...platform, configuration });
  const gates = createGateChecks({ ...platform, writers, outbox });
  const contextOf = createContextOf({
    ...platform,
    writers,
    ...skillDefaults,
    shell,
    gates,
    configuration,
    mergingOff: config.merging === 'off',
  });
  const pages = { github: gitHubPages(config.githubApiUrl) };
  const running = createRunningSessions();
  const publisher = createPublisher({ outbox, gates, clock, pages });
  const ended = platform.tracer && endedRuns();
  const engine = createEngine({
    ...platform,
    ...skillDefaults,
    publisher,
    onAbort: running.abort,
    onOver: ended?.add,
  });
  const questions = createQuestionPoller({ ...platform, ...skillDefaults });
  const artifacts = createSessionArtifacts({ blobs, clock, ids });
  const groups = createMergeGroups({
    ...platform,
    gates,
    configuration,
    contextOf,
    judgeStep: registry.judgeMerge,
  });
  const listening = createListening(clock);
  const eventDeps = {
    ...platform,
    engine,
    outbox,
    gates,
    configuration,
    storedChains,
    listening,
    onMergeGroup: groups.on,
    onInstallationBack: ({ installation_id: id }: { installation_id: number }) =>
      storage.transaction((tx) => queue.enqueue(tx, reconcileInstallationJob(id))),
    onCommand: createCommandHandler({ ...platform, engine, outbox, configuration }),
    onThreadReply: createThreadHandler({ ...platform, configuration, hasModel: model !== undefined }),
  };
  return {
    engine,
    ended,
    followOthers(share) {
      share.onGained((installations) => {
        listening.forget();
        questions.forget(installations);
        platform.writeLimiter.forget(installations);
        platform.github.forgetPauses(installations);
      });
      return storedChains.follow(platform.timers, () => listening.forget());
    },
    configuration,
    writers,
    onEvent: (event, cause) => onEvent(eventDeps, event, cause),
    onEventWithin: (tx, event, deliveryId) => onEventWithin(eventDeps, tx, event, deliveryId),
    sessions: sessionJobs({
      ...platform,
      artifacts,
      contextOf,
      outbox,
      engine,
      questions,
      running,
      logOf: createRunningLogs(platform),
      registry,
    }),
    mergeGroups: groups.jobs,
    questions: questions.jobs,
    notify: notifyJobs({ ...platform, contextOf, outbox, publisher, pages }),
    chains: {
      ...storedChains.jobs,
      async run(...job) {
        listening.forget();
        const result = await storedChains.jobs.run(...job);
        // Only now does the comparison read the new rows.
        if (job[0].schedules) await storage.transaction((tx) => queue.enqueue(tx, reconcileJob(clock.now())));
        return result;
      },
    },
    schedules: scheduleJobs(eventDeps),
    threads: threadJobs({
      ...platform,
      outbox,
      model,
      pool,
      record: createRecorder({ storage, blobs }),
      skill: () => shippedSkill('pr-review'),
    }),
    ask: askJobs({ ...platform, configuration, keepSkill, activation, outbox }),
  };
}
