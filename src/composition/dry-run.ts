import { rmSync } from 'node:fs';
import { isMap, parseDocument } from 'yaml';
import { type Pretence, withoutWriting } from '../adapters/dry-run/github.ts';
import { octokitsWithToken } from '../adapters/octokit/sign-in.ts';
import type { BaseConfig } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { silentLog } from '../core/log.ts';
import { CHAINS_FOLDER } from '../domain/chain/configuration-files.ts';
import { nameOfChain } from '../domain/chain/parse.ts';
import { triggerMatches } from '../domain/chain/trigger.ts';
import {
  eventTriggersOf,
  followsPullRequest,
  keyOfSchedule,
  schedulesOf,
  triggersOf,
} from '../domain/chain/trigger-schema.ts';
import type { EffectRow } from '../domain/effect/effect.ts';
import { criterion, type Explanation } from '../domain/explanation/explanation.ts';
import { triggerFacts } from '../domain/run/plan.ts';
import type { RunState } from '../domain/run/run.ts';
import { createOutagePolicy } from '../engine/jobs/outage-policy.ts';
import { workerOf } from '../engine/jobs/worker.ts';
import { branchToFire, cannotFire, cannotFireForBranch, type Refused } from '../engine/runs/fire-by-hand.ts';
import { firingJob } from '../engine/runs/firing-job.ts';
import { pullRequestNow } from '../engine/runs/on-pull-request.ts';
import { whyNoRun } from '../engine/runs/why-no-run.ts';
import type { DryRunRequest } from '../entrypoints/cli/context.ts';
import type { Played } from '../messages/cli/dry-run.ts';
import type { Chat } from '../ports/chat.ts';
import type { Firing } from '../ports/firings.ts';
import type { GitHub, PullRequest, Repo } from '../ports/github.ts';
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

/**
 * Plays a chain over pull requests of GitHub, which is only read. Nothing needs to be installed: `token` reads what
 * its owner can read.
 * @param config without the App's own settings
 * @throws GitHubError if the repository or a pull request cannot be read
 */
export function dryRun(config: BaseConfig, token: string, request: DryRunRequest): Promise<Played[]> {
  const { repo, pullRequests } = request;
  return play({
    ...request,
    config,
    token,
    gitHub: (real) => real,
    subjects: async (github) =>
      'last' in pullRequests
        ? github.reader(INSTALLATION).newestPullRequests(repo, pullRequests.last)
        : [...pullRequests.numbers],
  });
}

interface Play extends Pick<DryRunRequest, 'repo' | 'chain' | 'fire' | 'onProgress'> {
  config: BaseConfig;
  token: string;
  /** The GitHub that is read, given the one of the settings. */
  gitHub(real: GitHub): GitHub;
  /** The numbers of pull requests; `null` for a run without one. */
  subjects(github: GitHub): Promise<(number | null)[]>;
  /** When it is, instead of now. */
  at?: Date;
  overrides?: SkillOverrides;
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
}: Play): Promise<Played[]> {
  const folder = await temporaryFolder('dry-run');
  const clock = skippingClock(at);
  const { agents: _, chat: __, retention: ___, ...rest } = config;
  const opened = await openPlatform(
    // An agent would get the token of a person, which can do more than read.
    { ...rest, databaseUrl: 'sqlite::memory:', artifactsUrl: `file:${folder}`, agents: {} },
    octokitsWithToken({ token, apiUrl: config.githubApiUrl }),
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
  try {
    const reader = seen.reader(INSTALLATION, 'person');
    const { id, defaultBranch } = await reader.repository(repo);
    const played = await Promise.all(
      (await subjects(asIs)).map((number) =>
        number === null ? null : asIs.reader(INSTALLATION).pullRequest(repo, number),
      ),
    );
    const skills = await createSkills(platform.config, platform, { shell, ...overrides });
    stopSkills = skills.stop;
    const parts = buildEngine(platform, skills);
    queue.start(workerOf(buildJobs(platform, parts), { outagePolicy: createOutagePolicy(platform) }));
    const refused = new Map<number | null, Refused>();
    for (const pullRequest of played) await begin(pullRequest);
    const reporting = setInterval(() => void report().catch(() => {}), PROGRESS_MS);
    await settle().finally(() => clearInterval(reporting));
    await report();
    return await Promise.all(played.map(resultOf));

    async function begin(pullRequest: PullRequest | null): Promise<void> {
      const job = await (pullRequest ? eventFor(pullRequest) : eventWithout());
      if ('because' in job) refused.set(pullRequest?.number ?? null, job);
      else await storage.transaction((tx) => queue.enqueue(tx, job));
    }

    /** What happens to the pull request, or why the chain cannot be fired for it. */
    async function eventFor(pullRequest: PullRequest): Promise<NewJob | Refused> {
      const { number, state, merged } = pullRequest;
      const on = { installation_id: INSTALLATION, repository: { id, ...repo }, pull_request: number };
      if (fire) {
        const asked = { chain: chain.name, actor: fire.actor, inputs: fire.inputs };
        return (await whyNotFired(number, asked)) ?? eventJob({ kind: 'manual.fired', ...on, ...asked });
      }
      const kind = merged ? 'pr.merged' : 'pr.closed';
      const opened = eventJob({ kind: 'pr.opened', ...on, action: 'opened' });
      if (state === 'open') return opened;
      const configuration = await parts.configuration.forPullRequest(INSTALLATION, repo, pullRequest);
      const found = configuration?.chains.find(({ name }) => name === chain.name);
      const waitsForEnd = found && eventTriggersOf(found).some(({ event }) => event === kind);
      if (!waitsForEnd || triggersOf(found).some(followsPullRequest)) return opened;
      ended.add(number);
      return eventJob({ kind, ...on });
    }

    /** The schedule of the chain, or somebody who fires it. */
    async function eventWithout(): Promise<NewJob | Refused> {
      const on = { installation_id: INSTALLATION, repository: { id, ...repo } };
      const asked = { chain: chain.name, actor: fire?.actor ?? 'somebody', inputs: fire?.inputs ?? {} };
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

    async function runOf(pullRequest: PullRequest | null): Promise<RunState | undefined> {
      const of = pullRequest ? { pullRequest: pullRequest.number } : {};
      const [run] = await storage.read.runs.list({ repositoryId: id, ...of, limit: 1 });
      return run && storage.read.runs.load(run.id);
    }

    async function resultOf(pullRequest: PullRequest | null): Promise<Played> {
      const number = pullRequest?.number ?? null;
      const about = {
        pullRequest,
        asIfOpen: pullRequest?.state === 'closed' && !ended.has(pullRequest.number),
      };
      const state = await runOf(pullRequest);
      const refusal = refused.get(number);
      if (refusal) {
        const { because, ...of } = refusal;
        return { ...about, kind: 'not_run', because: criterion('unmet', because), ...of };
      }
      if (!state) return { ...about, kind: 'not_run', because: await whyNot(number) };
      const approvals = await storage.read.approvals.ofRun(state.run.id);
      const effects = await storage.read.effects.ofRun(state.run.id);
      return {
        ...about,
        kind: 'ran',
        state,
        approval: approvals.at(-1) ?? null,
        effects: effects.filter(isWritten).map(({ effect }) => effect),
      };
    }

    async function whyNot(number: number | null): Promise<Explanation> {
      if (number === null) return criterion('unmet', 'the run has not begun');
      const pullRequest = await reader.pullRequest(repo, number);
      const listed = await reader.pullRequestFiles(repo, number);
      const configuration = await parts.configuration.forPullRequest(INSTALLATION, repo, pullRequest);
      const facts = { full_name: `${repo.owner}/${repo.name}`, ...repo, default_branch: defaultBranch };
      const now = pullRequestNow(pullRequest, listed);
      const waiting = configuration?.chains.find(({ name }) => name === chain.name);
      if (!ended.has(number) || !waiting) return whyNoRun(now, configuration, facts);
      const event = pullRequest.merged ? 'pr.merged' : 'pr.closed';
      const match = triggerMatches(waiting, { event, repository: facts, pull_request: triggerFacts(now) });
      return criterion('unmet', `${chain.name} is not for it: ${match.matches ? event : match.because}`);
    }

    /** Until every run asks, ends, or waits for something that only time or people bring. */
    async function settle(): Promise<void> {
      let left = MAX_SKIPPED_MS;
      for (let isLast = false; ; ) {
        await queue.idle();
        const due = await storage.read.jobs.nextDue(clock.now());
        if (!due) return;
        const runs = await storage.read.runs.list({ repositoryId: id, active: true });
        if (!isLast && runs.every(({ status }) => status === 'waiting_approval')) {
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
        if (state) onProgress(state);
      }
    }
  } finally {
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

/** Time that goes on, and that can be skipped. */
function skippingClock(from = new Date()): Clock & { skip(ms: number): void } {
  let ahead = from.getTime() - Date.now();
  return {
    now: () => new Date(Date.now() + ahead),
    skip(ms) {
      ahead += Math.max(0, ms);
    },
  };
}

/** The repository's own files, with this chain, and with settings that choose no other. */
function pretend(repo: Repo, { name, file }: DryRunRequest['chain'], ended: ReadonlySet<number>): Pretence {
  return {
    repo,
    ended,
    settings: (text = '') => withOnlyChain(text, name),
    ...(file !== undefined && {
      chain: {
        path: `${CHAINS_FOLDER}/${name}.yaml`,
        text: file,
        replaces: (text: string) => nameOfChain(text) === name,
      },
    }),
  };
}

/** Settings with errors stay as they are, so that the app says what is wrong with them. */
function withOnlyChain(settings: string, name: string): string {
  const document = parseDocument(settings);
  if (document.errors.length > 0 || (document.contents !== null && !isMap(document.contents)))
    return settings;
  document.set('chains', [name]);
  return document.toString();
}
