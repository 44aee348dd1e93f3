import { rmSync } from 'node:fs';
import { type Pretence, SOMEBODY, withoutWriting } from '../adapters/dry-run/github.ts';
import { readingOnly } from '../adapters/dry-run/reading-only.ts';
import { withoutToken } from '../adapters/dry-run/without-token.ts';
import { octokitsWithToken } from '../adapters/octokit/sign-in.ts';
import { createAnalyzerPool } from '../analyzers/pool.ts';
import type { BaseConfig } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { notAllowed } from '../core/diagnostic.ts';
import { silentLog } from '../core/log.ts';
import type { Chain } from '../domain/chain/chain.ts';
import { CHAINS_FOLDER } from '../domain/chain/configuration-files.ts';
import { nameOfChain } from '../domain/chain/parse.ts';
import { resolveChains } from '../domain/chain/scope.ts';
import type { StoredChain } from '../domain/chain/stored.ts';
import { triggerMatches } from '../domain/chain/trigger.ts';
import {
  compositesOf,
  eventTriggersOf,
  followsPullRequest,
  keyOfSchedule,
  schedulesOf,
  triggersOf,
} from '../domain/chain/trigger-schema.ts';
import { eventsOf, exampleOf, type Happening, type HappensAt } from '../domain/chain-case/happening.ts';
import type { EffectRow } from '../domain/effect/effect.ts';
import type { Event } from '../domain/event/event.ts';
import { criterion, type Explanation } from '../domain/explanation/explanation.ts';
import { childRunId } from '../domain/run/child.ts';
import { triggerFacts } from '../domain/run/plan.ts';
import type { Run, RunState } from '../domain/run/run.ts';
import { createOutagePolicy } from '../engine/jobs/outage-policy.ts';
import { workerOf } from '../engine/jobs/worker.ts';
import { explainEvent } from '../engine/runs/explain-event.ts';
import { branchToFire, cannotFire, cannotFireForBranch, type Refused } from '../engine/runs/fire-by-hand.ts';
import { firingJob } from '../engine/runs/firing-job.ts';
import { pullRequestNow } from '../engine/runs/run-facts.ts';
import { whyNoRun } from '../engine/runs/why-no-run.ts';
import type { DryRunRequest } from '../entrypoints/cli/context.ts';
import type { Course, Played } from '../messages/cli/dry-run.ts';
import type { Chat } from '../ports/chat.ts';
import type { Firing } from '../ports/firings.ts';
import type { GitHub, PullRequest, Repo } from '../ports/github.ts';
import { pullRequestKey, repositoryKey } from '../ports/job-keys.ts';
import { eventJob, type NewJob, repositoryEventJob } from '../ports/jobs.ts';
import type { Shell } from '../ports/shell.ts';
import { temporaryFolder } from '../sandbox/temporary-folder.ts';
import { buildEngine } from './engine.ts';
import { buildJobs } from './jobs.ts';
import { openPlatform } from './platform.ts';
import { createSkills, type SkillOverrides } from './skills.ts';

/** There is no installation. */
const INSTALLATION = 1;
/** How much waiting is skipped, in milliseconds: enough for pauses of our own, too little for CI to time out. */
const MAX_SKIPPED_MS = 90_000;
/** After the chain has asked or ended: what is written together with it. */
const LAST_WRITES_MS = 10_000;
/** How often steps are compared with what was said about them, in milliseconds. */
const PROGRESS_MS = 250;

/** What a server adds to a dry run. */
interface OnServer {
  /** What the operator says about chains. */
  stored?: readonly StoredChain[];
  /** Ends the dry run early, with the reason of the signal. */
  signal?: AbortSignal;
}

/**
 * Plays a chain over pull requests of GitHub, which is only read. Nothing needs to be installed: `token` reads what
 * its owner can read. Without one, what is public is read.
 * @param config without the App's own settings
 * @throws GitHubError if the repository or a pull request cannot be read
 */
export async function dryRun(
  config: BaseConfig,
  token: string | undefined,
  request: DryRunRequest & OnServer,
): Promise<Played[]> {
  const { repo, pullRequests } = request;
  // No other review follows, so no process waits for one.
  const analyzers = createAnalyzerPool({ spares: false });
  try {
    return await play({
      ...request,
      config,
      token,
      gitHub: (real) => real,
      subjects: async (github) =>
        'last' in pullRequests
          ? github.reader(INSTALLATION).newestPullRequests(repo, pullRequests.last)
          : [...pullRequests.numbers],
      overrides: { analyzers },
    });
  } finally {
    await analyzers.stop();
  }
}

interface Play extends Pick<DryRunRequest, 'repo' | 'chain' | 'fire' | 'onProgress'>, OnServer {
  config: BaseConfig;
  token: string | undefined;
  /** The GitHub that is read, given the one of the settings. */
  gitHub(real: GitHub): GitHub;
  /** The numbers of pull requests; `null` for a run without one. */
  subjects(github: GitHub): Promise<(number | null)[]>;
  /** When it is, instead of now. */
  at?: Date;
  overrides?: SkillOverrides;
  story?: Story;
}

/** What happens one after the other, instead of one event for each subject. Time passes only between them. */
interface Story {
  events: readonly Happening[];
  /** Who does what nobody is named for. */
  actor: string;
  /** GitHub answers from then on as if this had happened. */
  happen(one: Happening, at: Date): Pick<HappensAt, 'headSha' | 'tip' | 'updatedAt'>;
}

/** The webhooks are those of a server that this command cannot see, so every name counts as set. Nothing is posted. */
const SILENT_CHAT: Chat = { has: () => true, post: async () => {} };

/** Runs the real engine over pull requests, in a database and a folder that are thrown away. */
export async function play({
  config,
  token,
  gitHub,
  subjects,
  repo,
  chain,
  fire,
  onProgress,
  at,
  overrides = {},
  story,
  stored = [],
  signal,
}: Play): Promise<Played[]> {
  const folder = await temporaryFolder('dry-run');
  const clock = skippingClock(at, story !== undefined);
  const { agents: _, chat: __, retention: ___, tracing: ____, ...rest } = config;
  const opened = await openPlatform(
    // An agent would get the token of a person, which can do more than read.
    { ...rest, databaseUrl: 'sqlite::memory:', artifactsUrl: `file:${folder}`, agents: {} },
    {
      ...octokitsWithToken({ token, apiUrl: config.githubApiUrl }),
      fetch: readingOnly(token === undefined ? withoutToken(globalThis.fetch) : globalThis.fetch),
    },
    silentLog,
    { clock },
  );
  const { storage, queue } = opened;
  const asIs = gitHub(opened.github);
  const ended = new Set<number>();
  const seen = withoutWriting(asIs, pretend(repo, chain, ended));
  const platform = { ...opened, github: { ...opened.github, ...seen }, chat: SILENT_CHAT };
  const shell: Shell = { unusable: async () => undefined, run: async () => ({ kind: 'not_run', log: '' }) };
  let stopSkills = async () => {};
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  const onAbort = () => aborted.reject(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    signal?.throwIfAborted();
    await storage.transaction(async (tx) => {
      for (const row of stored) await tx.chains.put(row);
    });
    const reader = seen.reader(INSTALLATION, 'person');
    const { id, defaultBranch } = await reader.repository(repo);
    const played = await Promise.all(
      (await subjects(asIs)).map((number) =>
        number === null ? null : asIs.reader(INSTALLATION).pullRequest(repo, number),
      ),
    );
    const skills = await createSkills(platform.config, platform, { shell, ...overrides });
    stopSkills = skills.stop;
    const parts = buildEngine(platform, skills, chain.name);
    queue.start(workerOf(buildJobs(platform, parts), { outagePolicy: createOutagePolicy(platform) }));
    const refused = new Map<number | null, Refused>();
    const examples = new Map<number, readonly Happening[]>();
    /** Where one event is not all, by what the result is about. */
    const several = new Map<number | null, Event[]>();
    if (story) await tell(story);
    else for (const pullRequest of played) await begin(pullRequest);
    const reporting = setInterval(() => void report().catch(() => {}), PROGRESS_MS);
    await settle().finally(() => clearInterval(reporting));
    await report();
    return await Promise.all(played.map(resultOf));

    async function begin(pullRequest: PullRequest | null): Promise<void> {
      const jobs = await (pullRequest ? eventsFor(pullRequest) : eventWithout());
      if ('because' in jobs) refused.set(pullRequest?.number ?? null, jobs);
      else await enqueue([jobs].flat());
    }

    async function enqueue(jobs: readonly NewJob[]): Promise<void> {
      await storage.transaction(async (tx) => {
        for (const job of jobs) await queue.enqueue(tx, job);
      });
    }

    /** The time between two events is skipped at once, as if the app had been down. */
    async function tell({ events, actor, happen }: Story): Promise<void> {
      const on = { installation_id: INSTALLATION, repository: { id, ...repo } };
      const baseRef = played[0]?.baseRef ?? defaultBranch;
      const where = { place: on, pullRequest: played[0]?.number ?? 0, baseRef, defaultBranch, actor };
      const told: Event[] = [];
      several.set(played[0]?.number ?? null, told);
      for (const [nth, one] of events.entries()) {
        clock.skip(one.after ?? 0);
        await queue.idle();
        const at = clock.now();
        for (const event of eventsOf(one, { ...where, ...happen(one, at), nth, at })) {
          await enqueue([
            { kind: 'event', installationId: INSTALLATION, key: repositoryKey(id), payload: { event } },
          ]);
          await queue.idle();
          told.push(event);
        }
      }
    }

    /** What happens to the pull request, or why the chain cannot be fired for it. */
    async function eventsFor(pullRequest: PullRequest): Promise<NewJob | NewJob[] | Refused> {
      const { number, state, merged } = pullRequest;
      const on = { installation_id: INSTALLATION, repository: { id, ...repo }, pull_request: number };
      if (fire) {
        const asked = { chain: chain.name, actor: fire.actor, inputs: fire.inputs };
        return (await whyNotFired(number, asked)) ?? eventJob({ kind: 'manual.fired', ...on, ...asked });
      }
      const kind = merged ? 'pr.merged' : 'pr.closed';
      const opened = eventJob({ kind: 'pr.opened', ...on, action: 'opened' });
      const configuration = await parts.configuration.forPullRequest(INSTALLATION, repo, pullRequest);
      const found = configuration?.chains.find(({ name }) => name === chain.name);
      const example = found && exampleFor(found, pullRequest);
      if (example) return example;
      if (state === 'open') return opened;
      const waitsForEnd = found && eventTriggersOf(found).some(({ event }) => event === kind);
      if (!waitsForEnd || triggersOf(found).some(followsPullRequest)) return opened;
      ended.add(number);
      return eventJob({ kind, ...on });
    }

    /** For a chain that only composites start: their parts, as far as they can happen to a pull request. */
    function exampleFor(found: Chain, pullRequest: PullRequest): NewJob[] | undefined {
      const composites = compositesOf(found).map(({ composite }) => composite);
      if (composites.length < triggersOf(found).length) return undefined;
      const facts = { full_name: `${repo.owner}/${repo.name}`, ...repo, default_branch: defaultBranch };
      const events = composites.map((one) => exampleOf(one, facts)).find((one) => one !== undefined);
      if (!events) return undefined;
      const { number, baseRef, headSha, updatedAt } = pullRequest;
      examples.set(number, events);
      const where = {
        place: { installation_id: INSTALLATION, repository: { id, ...repo } },
        pullRequest: number,
        baseRef,
        defaultBranch,
        headSha,
        tip: headSha,
        updatedAt,
        actor: SOMEBODY,
      };
      const all = events.flatMap((one, nth) => eventsOf(one, { ...where, nth, at: clock.now() }));
      several.set(number, all);
      // With one key, so that they are handled one after the other.
      return all.map((event) => ({
        kind: 'event',
        installationId: INSTALLATION,
        key: pullRequestKey(id, number),
        payload: { event },
      }));
    }

    /** The schedule of the chain, or somebody who fires it. */
    async function eventWithout(): Promise<NewJob | Refused> {
      const on = { installation_id: INSTALLATION, repository: { id, ...repo } };
      const asked = { chain: chain.name, actor: fire?.actor ?? SOMEBODY, inputs: fire?.inputs ?? {} };
      const found = await branchToFire(
        { github: platform.github, configuration: parts.configuration },
        { ...on, ...asked },
      );
      const because = cannotFireForBranch(found, asked);
      if (because !== undefined) return because;
      const of = found.configuration?.chains.find(({ name }) => name === chain.name);
      const [schedule] = of && !fire ? schedulesOf(of) : [];
      if (!schedule) return repositoryEventJob({ kind: 'manual.fired', ...on, ...asked, pull_request: null });
      const firing: Firing = {
        id: platform.ids.next('fir'),
        repositoryId: id,
        chain: chain.name,
        trigger: keyOfSchedule(schedule),
        occasion: 'dry run',
        installationId: INSTALLATION,
        repository: `${repo.owner}/${repo.name}`,
        status: 'due',
        reason: null,
        summary: null,
        count: 1,
        runId: platform.ids.next('run'),
        pullRequest: null,
        dueAt: clock.now(),
        updatedAt: clock.now(),
      };
      await storage.transaction((tx) => tx.firings.insert(firing));
      return firingJob(firing);
    }

    async function whyNotFired(number: number, asked: Parameters<typeof cannotFire>[2]) {
      const pullRequest = await reader.pullRequest(repo, number);
      const configuration = await parts.configuration.forPullRequest(INSTALLATION, repo, pullRequest);
      return cannotFire(configuration, pullRequest, asked);
    }

    /** Without those that are steps of others. */
    async function runsOf(pullRequest: PullRequest | null): Promise<Run[]> {
      // What happens in a case may also begin a run without its pull request.
      const of = pullRequest && !story ? { pullRequest: pullRequest.number } : {};
      const runs = await storage.read.runs.list({ repositoryId: id, ...of });
      return runs.filter(({ facts }) => !facts.parent);
    }

    async function runOf(pullRequest: PullRequest | null): Promise<RunState | undefined> {
      const [run] = await runsOf(pullRequest);
      return run && storage.read.runs.load(run.id);
    }

    async function resultOf(pullRequest: PullRequest | null): Promise<Played> {
      const number = pullRequest?.number ?? null;
      const about = {
        pullRequest,
        asIfOpen: pullRequest?.state === 'closed' && !ended.has(pullRequest.number),
        asIf: (pullRequest && examples.get(pullRequest.number)) ?? [],
      };
      const state = await runOf(pullRequest);
      const refusal = refused.get(number);
      const unknown = state ? undefined : await unknownName(pullRequest);
      if (unknown !== undefined)
        return { ...about, kind: 'not_run', because: criterion('unmet', unknown), of: 'name' };
      if (refusal) {
        const { because, ...of } = refusal;
        return { ...about, kind: 'not_run', because: criterion('unmet', because), ...of };
      }
      if (!state) return { ...about, kind: 'not_run', because: await whyNot(number) };
      return { ...about, kind: 'ran', runs: (await runsOf(pullRequest)).length, ...(await courseOf(state)) };
    }

    async function courseOf(state: RunState): Promise<Course> {
      const approvals = await storage.read.approvals.ofRun(state.run.id);
      const effects = await storage.read.effects.ofRun(state.run.id);
      const calls = await Promise.all(
        (await childrenOf(state)).map(async ({ step, child }) => ({ step, ...(await courseOf(child)) })),
      );
      return {
        state,
        approval: approvals.at(-1) ?? null,
        effects: effects.filter(isWritten).map(({ effect }) => effect),
        calls,
      };
    }

    /** The runs that steps of the run began, of the last attempt at each. */
    async function childrenOf({ invocations }: RunState): Promise<{ step: string; child: RunState }[]> {
      const found = await Promise.all(
        invocations.map(async ({ stepId: step, sessionId }) => {
          const child = sessionId ? await storage.read.runs.load(childRunId(sessionId)) : undefined;
          return child ? [{ step, child }] : [];
        }),
      );
      return found.flat();
    }

    async function unknownName(pullRequest: PullRequest | null): Promise<string | undefined> {
      const subject = pullRequest ?? { baseRef: defaultBranch, defaultBranch };
      const configuration = await parts.configuration.forPullRequest(INSTALLATION, repo, subject);
      const names = configuration && resolveChains(configuration.read.chains).names;
      return !names || names.includes(chain.name)
        ? undefined
        : notAllowed(`there is no chain "${chain.name}"`, names, chain.name);
    }

    async function whyNot(number: number | null): Promise<Explanation> {
      const unmet = await whyNotForAll(number);
      if (unmet) return unmet;
      if (number === null) return criterion('unmet', 'the run has not begun');
      const pullRequest = await reader.pullRequest(repo, number);
      const listed = await reader.pullRequestFiles(repo, number);
      const all = await parts.configuration.forPullRequest(INSTALLATION, repo, pullRequest);
      const chains = all?.chains.filter(({ name }) => name === chain.name) ?? [];
      const facts = { full_name: `${repo.owner}/${repo.name}`, ...repo, default_branch: defaultBranch };
      const now = pullRequestNow(pullRequest, listed);
      const [waiting] = chains;
      if (!ended.has(number) || !waiting) return whyNoRun(now, all && { ...all, chains }, facts);
      const event = pullRequest.merged ? 'pr.merged' : 'pr.closed';
      const match = triggerMatches(waiting, { event, repository: facts, pull_request: triggerFacts(now) });
      return criterion('unmet', `${chain.name} is not for it: ${match.matches ? event : match.because}`);
    }

    /** What the triggers made of several events: those that fit no part of a composite, or else the last. */
    async function whyNotForAll(number: number | null): Promise<Explanation | undefined> {
      const deps = { storage, github: platform.github, configuration: parts.configuration };
      const explained = [];
      for (const event of several.get(number) ?? [])
        explained.push((await explainEvent(deps, event, chain.name))?.triggers ?? []);
      const misfits = explained.flat().filter(({ fills }) => fills === false);
      const telling = misfits.length > 0 ? misfits : (explained.at(-1) ?? []);
      const because = telling.flatMap(({ checks }) => checks.find(({ matches }) => !matches)?.because ?? []);
      return because.length > 0 ? criterion('unmet', [...new Set(because)].join('; and ')) : undefined;
    }

    /** Until every run asks, ends, or waits for something that only time or people bring. */
    async function settle(): Promise<void> {
      let left = MAX_SKIPPED_MS;
      for (let isLast = false; ; ) {
        await Promise.race([queue.idle(), aborted.promise]);
        const due = await storage.read.jobs.nextDue(clock.now());
        if (!due) return;
        const runs = await storage.read.runs.list({ repositoryId: id, active: true });
        // A step that runs a chain waits for what that chain waits for.
        const callers = new Set(runs.map(({ facts }) => facts.parent?.run));
        const leaves = runs.filter((run) => !callers.has(run.id));
        if (!isLast && leaves.every(({ status }) => status === 'waiting_approval')) {
          isLast = true;
          left = Math.min(left, LAST_WRITES_MS);
        }
        const ms = due.getTime() - clock.now().getTime();
        left -= Math.max(0, ms);
        if (left < 0) return;
        clock.skip(ms);
        queue.wake();
      }
    }

    async function report(): Promise<void> {
      for (const pullRequest of played) {
        const state = await runOf(pullRequest);
        if (state) await reportAll(state);
      }
    }

    async function reportAll(state: RunState): Promise<void> {
      onProgress(state);
      for (const { child } of await childrenOf(state)) await reportAll(child);
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    await queue.stop(0);
    await stopSkills();
    await storage.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A comment that would say nothing new is requested and then withheld. */
function isWritten({ effect, appliedHash, githubId }: EffectRow): boolean {
  return appliedHash !== null && (effect.kind !== 'comment' || githubId !== null);
}

/** Time that goes on unless it is still, and that can be skipped. */
function skippingClock(from = new Date(), isStill = false): Clock & { skip(ms: number): void } {
  const began = Date.now();
  let ahead = from.getTime() - began;
  return {
    now: () => new Date((isStill ? began : Date.now()) + ahead),
    skip(ms) {
      ahead += Math.max(0, ms);
    },
  };
}

/** The repository's own files, with the given ones. */
function pretend(repo: Repo, { files = [] }: DryRunRequest['chain'], ended: ReadonlySet<number>): Pretence {
  return {
    repo,
    ended,
    chains: files.map(({ name, text }) => ({
      path: `${CHAINS_FOLDER}/${name}.yaml`,
      text,
      replaces: (other: string) => nameOfChain(other) === name,
    })),
  };
}
