import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { bounded } from '../../core/bounded-fetch.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { PACKAGE_ROOT } from '../../core/package-root.ts';
import type {
  AnsweredRequest,
  GitHub,
  LimitMemory,
  RateLimitStatus,
  SignedOut,
  Urgency,
} from '../../ports/github.ts';
import { anythingSchema } from './answers.ts';
import { createAppReader } from './app-reader.ts';
import { createBudget } from './budget.ts';
import { type Client, createClient, type Installation } from './client.ts';
import { createKnownPauses } from './known-pauses.ts';
import { learningCredentials } from './learn-credentials.ts';
import { merge } from './merge.ts';
import { dequeue, enqueue } from './merge-queue.ts';
import { minimizeComment } from './minimize-comment.ts';
import { createNodeIds, type NodeIds } from './node-ids.ts';
import { passGate } from './pass-gate.ts';
import { createReader } from './reader.ts';
import { createRecentAnswers, type RecentAnswers } from './recent-answers.ts';
import { createRequestLimiter, GITHUB_LIMITER } from './request-limiter.ts';
import { resolveThread } from './review-threads.ts';
import { writeTogether } from './shared-writes.ts';
import { createSignIn, type OctokitSource } from './sign-in.ts';
import { createSignInWatch, watched } from './sign-in-watch.ts';
import { createAnswerCache, type Fetch, unlessHeld } from './transport.ts';
import { createWriter } from './writer.ts';

export interface OctokitGitHubOptions {
  source: OctokitSource;
  log: Log;
  clock: Clock;
  /** Called for every response, and for every request that the app's own limiter refused. */
  metrics?: { answered(request: AnsweredRequest): void; heldBack(urgency: Urgency): void };
  /** Where pauses are remembered that GitHub asks for. Otherwise they end with the process. */
  limitMemory?: LimitMemory;
  /** Something else asks for the same installations at the same time, and remembers its pauses there, too. */
  sharesLimits?: boolean;
  /** Whether this process may begin to send a write now, where several divide the work. By default always. */
  mayWrite?: () => boolean;
  /** Instead of the source's. */
  fetch?: Fetch;
  /** Per request, in milliseconds; default 10 s. */
  timeoutMs?: number;
  /** For a merge, which can take GitHub longer; default 30 s. */
  mergeTimeoutMs?: number;
  /** Default: slightly below GitHub's own limit. For tests that simulate hours in seconds. */
  pointsPerMinute?: number;
  /** Milliseconds of a monotonic clock, for tests that simulate time. */
  limiterNow?: () => number;
}

type Connected = Installation & { clients: Record<Urgency, Client>; nodeIds: NodeIds; recent: RecentAnswers };

export interface OctokitGitHub extends GitHub {
  /** Of every installation that was used since the start. */
  rateLimits(): RateLimitStatus[];
  /** For which of the installations in use, or for the app itself, GitHub refuses authentication. */
  signedOut(): SignedOut[];
  /** Another process has worked for these: what it was refused is recalled before the next request. */
  forgetPauses(installationIds: readonly number[]): void;
}

const LARGEST_TOKEN_BYTES = 1024 * 1024;

/**
 * GitHub through Octokit, without its plugins for throttling and retries: the outbox and the queue decide
 * about retries, because they survive a restart.
 */
export function createOctokitGitHub(options: OctokitGitHubOptions): OctokitGitHub {
  const { source, log, clock } = options;
  const { appId } = source;
  const signInDeps = { source, userAgent: `countersign/${version()}`, log };
  const watch = createSignInWatch({ clock, log });
  const deps = {
    watch,
    async expectApp() {
      await clientOf(undefined, 'person').request('GET /app', {}, anythingSchema);
    },
    timeoutMs: options.timeoutMs ?? 10_000,
    clock,
    cache: createAnswerCache(),
    fetch: learningCredentials(options.fetch ?? source.fetch ?? globalThis.fetch),
    onAnswer(request: AnsweredRequest) {
      log.debug({ github: request }, 'GitHub answered');
      options.metrics?.answered(request);
    },
    mayWrite: options.mayWrite ?? (() => true),
    onHeldBack: (urgency: Urgency) => options.metrics?.heldBack(urgency),
  };

  const installations = new Map<number | undefined, Connected>();
  const clientOf = (id: number | undefined, urgency: Urgency): Client => connected(id).clients[urgency];
  const connected = (id: number | undefined): Connected => {
    const known = installations.get(id);
    if (known) return known;
    const pointsPerMinute = options.pointsPerMinute ?? GITHUB_LIMITER.pointsPerMinute;
    const budget = createBudget();
    const forTokens = unlessHeld(
      bounded(deps.fetch, { timeoutMs: deps.timeoutMs, maxBytes: LARGEST_TOKEN_BYTES }),
      { budget, clock },
    );
    const installation: Installation = {
      id,
      signIn: createSignIn(signInDeps, id, id === undefined ? forTokens : watched(forTokens, watch, id)),
      budget,
      graphqlBudget: createBudget('graphql'),
      limiter: createRequestLimiter({
        ...GITHUB_LIMITER,
        pointsPerMinute,
        ...(options.limiterNow ? { now: options.limiterNow } : {}),
      }),
      pauses: createKnownPauses(id, budget, {
        memory: options.limitMemory,
        isShared: options.sharesLimits ?? false,
        log,
      }),
    };
    const clients = {
      person: createClient(deps, installation, 'person'),
      run: createClient(deps, installation, 'run'),
      background: createClient(deps, installation, 'background'),
    };
    const all = {
      ...installation,
      clients,
      nodeIds: createNodeIds(clock),
      recent: createRecentAnswers(clock),
    };
    installations.set(id, all);
    return all;
  };

  return {
    appId,
    app: createAppReader(clientOf(undefined, 'background')),
    turn(installationId, { job, urgency, points }) {
      clientOf(installationId, urgency);
      const now = clock.now();
      const known = installations.get(installationId);
      const waitMs = known?.limiter.turn(job, urgency, points);
      return (
        known?.budget.heldUntil(now) ?? (waitMs === undefined ? undefined : new Date(now.getTime() + waitMs))
      );
    },
    reader(installationId, urgency = 'run') {
      const { clients, nodeIds, recent } = connected(installationId);
      return createReader(clients[urgency], { ownAppId: appId, nodeIds, recent });
    },
    changed: (installationId, repo, what) => connected(installationId).recent.changed(repo, what),
    writer(installationId, urgency = 'person') {
      const { clients, nodeIds } = connected(installationId);
      const client = clients[urgency];
      const alone = createWriter(client, appId);
      return {
        ...alone,
        writeTogether: (repo, writes) => writeTogether(client, nodeIds, alone, repo, writes),
        passGate: (proof, checkRunId, content) => passGate(client, clock, proof, checkRunId, content),
        enqueue: (proof, nodeId) => enqueue(client, clock, proof, nodeId),
        dequeue: (nodeId) => dequeue(client, nodeId),
        minimizeComment: (nodeId) => minimizeComment(client, nodeId),
        resolveThread: (id) => resolveThread(client, id),
        merge: (proof, message) => merge(client, clock, options.mergeTimeoutMs ?? 30_000, proof, message),
      };
    },
    rateLimits: () =>
      [...installations.values()].map(({ id, budget, graphqlBudget, limiter }) => ({
        installationId: id,
        hour: budget.figures(clock.now()),
        graphql: graphqlBudget.figures(clock.now()),
        heldUntil: budget.heldUntil(clock.now()),
        inFlight: limiter.inFlight(),
        waiting: limiter.waiting(),
      })),
    signedOut: watch.signedOut,
    forgetPauses(installationIds) {
      for (const id of installationIds) installations.get(id)?.pauses.forget();
    },
  };
}

function version(): string {
  const manifest = readFileSync(`${PACKAGE_ROOT}package.json`, 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(manifest)).version;
}
