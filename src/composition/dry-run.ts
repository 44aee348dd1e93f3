import { rmSync } from 'node:fs';
import { isMap, parseDocument } from 'yaml';
import { type Pretence, withoutWriting } from '../adapters/dry-run/github.ts';
import { octokitsWithToken } from '../adapters/octokit/sign-in.ts';
import type { BaseConfig } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { silentLog } from '../core/log.ts';
import { CHAINS_FOLDER } from '../domain/chain/configuration-files.ts';
import { nameOfChain } from '../domain/chain/parse.ts';
import type { EffectRow } from '../domain/effect/effect.ts';
import { criterion, type Explanation } from '../domain/explanation/explanation.ts';
import type { RunState } from '../domain/run/run.ts';
import { createOutagePolicy } from '../engine/jobs/outage-policy.ts';
import { workerOf } from '../engine/jobs/worker.ts';
import { cannotFire, type Refused } from '../engine/runs/fire-by-hand.ts';
import { pullRequestNow } from '../engine/runs/on-pull-request.ts';
import { whyNoRun } from '../engine/runs/why-no-run.ts';
import type { DryRunRequest } from '../entrypoints/cli/context.ts';
import type { Played } from '../messages/cli/dry-run.ts';
import type { Chat } from '../ports/chat.ts';
import type { GitHub, PullRequest, Repo } from '../ports/github.ts';
import { eventJob } from '../ports/jobs.ts';
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
    numbers: async (github) =>
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
  numbers(github: GitHub): Promise<number[]>;
  overrides?: SkillOverrides;
}

/** The webhooks are those of a server that this command cannot see, so every name counts as set. Nothing is posted. */
const SILENT_CHAT: Chat = { has: () => true, post: async () => {} };

/** Runs the real engine over pull requests, in a database and a folder that are thrown away. */
export async function play({
  config,
  token,
  gitHub,
  numbers,
  repo,
  chain,
  fire,
  onProgress,
  overrides = {},
}: Play): Promise<Played[]> {
  const folder = await temporaryFolder('dry-run');
  const clock = skippingClock();
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
  const seen = withoutWriting(asIs, pretend(repo, chain));
  const platform = { ...opened, github: { ...opened.github, ...seen }, chat: SILENT_CHAT };
  const shell: Shell = { unusable: async () => undefined, run: async () => ({ kind: 'not_run', log: '' }) };
  let stopSkills = async () => {};
  try {
    const reader = seen.reader(INSTALLATION, 'person');
    const { id, defaultBranch } = await reader.repository(repo);
    const played = await Promise.all(
      (await numbers(asIs)).map((number) => asIs.reader(INSTALLATION).pullRequest(repo, number)),
    );
    const skills = await createSkills(platform.config, platform, { shell, ...overrides });
    stopSkills = skills.stop;
    const parts = buildEngine(platform, skills);
    queue.start(workerOf(buildJobs(platform, parts), { outagePolicy: createOutagePolicy(platform) }));
    const refused = new Map<number, Refused>();
    for (const { number } of played) await begin(number);
    const reporting = setInterval(() => void report().catch(() => {}), PROGRESS_MS);
    await settle().finally(() => clearInterval(reporting));
    await report();
    return await Promise.all(played.map(resultOf));

    async function begin(number: number): Promise<void> {
      const on = { installation_id: INSTALLATION, repository: { id, ...repo }, pull_request: number };
      const asked = fire && { chain: chain.name, actor: fire.actor, inputs: fire.inputs };
      const because = asked && (await whyNotFired(number, asked));
      if (because) {
        refused.set(number, because);
        return;
      }
      const job = eventJob(
        asked ? { kind: 'manual.fired', ...on, ...asked } : { kind: 'pr.opened', ...on, action: 'opened' },
      );
      await storage.transaction((tx) => queue.enqueue(tx, job));
    }

    async function whyNotFired(number: number, asked: Parameters<typeof cannotFire>[2]) {
      const pullRequest = await reader.pullRequest(repo, number);
      const configuration = await parts.configuration.forPullRequest(INSTALLATION, repo, pullRequest);
      return cannotFire(configuration, pullRequest, asked);
    }

    async function runOf(number: number): Promise<RunState | undefined> {
      const [run] = await storage.read.runs.list({ repositoryId: id, pullRequest: number, limit: 1 });
      return run && storage.read.runs.load(run.id);
    }

    async function resultOf(pullRequest: PullRequest): Promise<Played> {
      const { number } = pullRequest;
      const state = await runOf(number);
      const refusal = refused.get(number);
      if (refusal) {
        const { because, ...of } = refusal;
        return { pullRequest, kind: 'not_run', because: criterion('unmet', because), ...of };
      }
      if (!state) return { pullRequest, kind: 'not_run', because: await whyNot(number) };
      const approvals = await storage.read.approvals.ofRun(state.run.id);
      const effects = await storage.read.effects.ofRun(state.run.id);
      return {
        pullRequest,
        kind: 'ran',
        state,
        approval: approvals.at(-1) ?? null,
        effects: effects.filter(isWritten).map(({ effect }) => effect),
      };
    }

    async function whyNot(number: number): Promise<Explanation> {
      const pullRequest = await reader.pullRequest(repo, number);
      const listed = await reader.pullRequestFiles(repo, number);
      const configuration = await parts.configuration.forPullRequest(INSTALLATION, repo, pullRequest);
      const facts = { full_name: `${repo.owner}/${repo.name}`, ...repo, default_branch: defaultBranch };
      return whyNoRun(pullRequestNow(pullRequest, listed), configuration, facts);
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
      for (const { number } of played) {
        const state = await runOf(number);
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
function skippingClock(): Clock & { skip(ms: number): void } {
  let ahead = 0;
  return {
    now: () => new Date(Date.now() + ahead),
    skip(ms) {
      ahead += Math.max(0, ms);
    },
  };
}

/** The repository's own files, with this chain, and with settings that choose no other. */
function pretend(repo: Repo, { name, file }: DryRunRequest['chain']): Pretence {
  return {
    repo,
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
