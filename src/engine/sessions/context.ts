import type { Clock } from '../../core/clock.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import { chainNamed } from '../../domain/chain/chain-list.ts';
import { renderText, renderWith } from '../../domain/expression/template.ts';
import { type ReviewVerdict, reviewVerdictSchema } from '../../domain/outcome/review-verdict.ts';
import { type Approval, approvalKey } from '../../domain/policy/approval.ts';
import { asBegan } from '../../domain/policy/rollout.ts';
import { childRunId } from '../../domain/run/child.ts';
import { conditionContext } from '../../domain/run/context.ts';
import {
  governingBranch,
  type Invocation,
  type Run,
  type RunState,
  repoOf,
  type Session,
} from '../../domain/run/run.ts';
import type { Chat } from '../../ports/chat.ts';
import type { GitHub, Urgency } from '../../ports/github.ts';
import type { Shell } from '../../ports/shell.ts';
import type { Storage } from '../../ports/storage.ts';
import type { ApprovalContext } from '../approvals/approval-context.ts';
import { gateHandle } from '../approvals/gate-handle.ts';
import { earlierRejections } from '../approvals/rejections.ts';
import type { ConfigurationLoader } from '../configuration/configuration.ts';
import { queueHandle } from '../effects/enqueue.ts';
import type { GateChecks } from '../effects/gate-check.ts';
import { confirmMerge, mergeKey, mergeOnce, type Note, ownMerge } from '../effects/merge.ts';
import type { Writers } from '../effects/writers.ts';
import { asBegun, type SkillDefaults } from '../runs/engine.ts';
import { notInForce } from '../runs/fire-by-hand.ts';
import { othersAtGate } from '../runs/publish-gate.ts';

/** Creates the context of one attempt of a session. */
export type ContextOf = (
  of: {
    state: RunState;
    /** The approvals of the run. */
    asked: readonly Approval[];
    session: Session;
  },
  because: 'time' | 'event',
  signal: AbortSignal,
  /** By default, nobody follows what it prints. */
  print?: ApprovalContext['print'],
) => ApprovalContext;

export interface ContextDeps extends SkillDefaults {
  storage: Storage;
  github: GitHub;
  writers: Writers;
  chat: Pick<Chat, 'has'>;
  shell: Shell;
  gates: GateChecks;
  configuration: Pick<ConfigurationLoader, 'forPullRequest' | 'atCommit' | 'rolloutOf'>;
  /** The operator has switched merging off on this server. */
  mergingOff: boolean;
  clock: Clock;
  ids: Ids;
  log: Log;
}

export function createContextOf(deps: ContextDeps): ContextOf {
  const { storage, github, writers, chat, clock, ids, log } = deps;

  return ({ state, asked, session }, because, signal, print = () => undefined) => {
    const { run } = state;
    const invocation = state.invocations.find((candidate) => candidate.id === session.invocationId);
    const step = invocation && run.definition.steps[invocation.stepIndex];
    if (!invocation || !step) throw new Error(`session ${session.id} belongs to no step of run ${run.id}`);
    const approval = asked.findLast(({ invocationId }) => invocationId === invocation.id);
    let listed: Promise<Run[]> | undefined;
    const ofChain = () => (listed ??= runsOfChain(storage, state));
    const notes: Note[] = [];
    const withResult = (note: Note) => void notes.push(note);
    const recording: Promise<unknown>[] = [];
    const recordingOf = (record: Promise<unknown>) => {
      // The job hears of its failure when it awaits all of them.
      record.catch(() => undefined);
      recording.push(record);
    };
    return {
      state,
      notes,
      recording,
      step,
      invocation,
      session,
      inputs: renderWith(step.with, conditionContext(state, step.id)),
      text(input, encode) {
        const source = step.with[input];
        return typeof source === 'string'
          ? renderText(source, conditionContext(state, step.id), encode)
          : undefined;
      },
      repo: repoOf(run),
      reader: github.reader(run.installationId, urgencyOf(invocation, because)),
      urgentReader: github.reader(run.installationId, 'person'),
      appId: github.appId,
      pushesTold: (repositoryIds, shas) => storage.read.pushes.of(repositoryIds, shas),
      hasWebhook: chat.has,
      shell: deps.shell,
      print,
      clock,
      log,
      signal,
      because,
      judged: [],
      requested: async (key) =>
        (await storage.read.effects.ofRun(run.id)).filter((row) => isOfKey(row.key, key)),
      childRun: () => storage.read.runs.load(childRunId(session.id)),
      async chainInForce(name) {
        const at = { sha: run.baseSha, branch: governingBranch(run) };
        const configuration = await deps.configuration.atCommit(run.installationId, repoOf(run), at);
        const because = notInForce(configuration, name);
        const chain = chainNamed(configuration.chains, name);
        return chain && because === undefined ? { chain } : { because: because ?? '' };
      },
      round: async () => roundOf(state, await ofChain()),
      earlierReview: async () => earlierReview(storage, state, step.id, await ofChain()),
      restOfReview: () => restOfReview(storage, run, invocation),
      newId: (prefix) => ids.next(prefix),
      approval,
      timesAsked: asked.length,
      async approvalComment(approvalId) {
        const row = await storage.read.effects.get(approvalKey(approvalId));
        if (row?.status === 'withheld' && row.githubId === null)
          return { refused: row.error ?? 'no reason given' };
        if (row?.status === 'failed' && row.githubId === null && row.progress.rests_until)
          return { refused: row.error ?? 'no reason given' };
        if (row?.effect.kind === 'comment' && (row.effect.shows ?? row.effect.replaced_by) !== undefined)
          return { asksNoMore: true };
        const bodyHash = row?.progress.body_hash;
        return row?.githubId && bodyHash
          ? {
              githubId: row.githubId,
              bodyHash,
              authorId: row.progress.author_id,
              nodeId: row.progress.node_id,
              beingWritten: row.status === 'pending',
            }
          : undefined;
      },
      async ownMerge() {
        const { repositoryId, pullRequest, headSha } = run;
        return pullRequest === null
          ? undefined
          : ownMerge(storage.read, { repositoryId, pullRequest, headSha });
      },
      async configurationNow(base, how) {
        const { installationId } = run;
        const configuration = await deps.configuration.forPullRequest(installationId, repoOf(run), base, how);
        const chain = configuration && chainNamed(configuration.chains, run.chain);
        return { configuration, chain: chain && asBegun(chain, deps) };
      },
      async mergeBegun() {
        const row = await storage.read.effects.get(mergeKey(run.id, run.headSha));
        return row?.begun && row.effect.kind === 'merge' ? row.effect : undefined;
      },
      async mergeRefusedAt() {
        const row = await storage.read.effects.get(mergeKey(run.id, run.headSha));
        return row?.status === 'failed' ? row.updatedAt : undefined;
      },
      confirmMerge: (sha) => confirmMerge({ storage, clock }, mergeKey(run.id, run.headSha), sha),
      mergingOff: deps.mergingOff,
      async rolloutNow() {
        const now = await deps.configuration.rolloutOf(run.installationId, repoOf(run));
        return asBegan(run, now);
      },
      async pausedBy() {
        if (run.pullRequest === null) return null;
        const own = await storage.read.pullRequests.get(run.repositoryId, run.pullRequest);
        // Another pull request with this head shares the gate check, so a pause of one applies to both.
        const sharing = await othersAtGate(storage.read, run);
        return own?.pausedBy ?? sharing.find(({ pausedBy }) => pausedBy !== null)?.pausedBy ?? null;
      },
      async acceptances() {
        const { repositoryId, pullRequest, headSha } = run;
        if (pullRequest === null) return [];
        return storage.read.acceptedFindings.ofHead({ repositoryId, pullRequest, headSha });
      },
      async outermost() {
        const { parent } = run.facts;
        return parent ? (await storage.read.runs.load(parent.above.at(-1) ?? parent.run))?.run : run;
      },
      histories: (rules) => storage.read.acceptedFindings.history({ repositoryId: run.repositoryId, rules }),
      earlierRejections: () => earlierRejections(storage.read, run, approval?.id),
      merge: mergeOnce({ storage, github, writers, clock, ids }, run, session.id, recordingOf),
      gate: gateHandle(deps, run, session, withResult),
      mergeQueue: queueHandle(deps, run, repoOf(run), session.id),
    };
  };
}

/**
 * A poll for a countersign is never `background`. GitHub sends no event for a reaction, so only the poll can
 * find it, and it costs nothing of the hourly limit while nothing changes.
 */
export function urgencyOf({ status }: Invocation, because: 'time' | 'event'): Urgency {
  if (status === 'waiting_approval') return because === 'event' ? 'person' : 'run';
  return because === 'event' ? 'run' : 'background';
}

function isOfKey(key: string, start: string): boolean {
  return key === start || key.startsWith(`${start}:`);
}

/** The most runs by which rounds are counted. */
const RUNS_OF_CHAIN = 1_000;

/** The runs of its chain for its pull request, newest first. */
async function runsOfChain(storage: Storage, { run }: RunState): Promise<Run[]> {
  const { repositoryId, pullRequest, chain } = run;
  if (pullRequest === null) return [];
  return storage.read.runs.list({ repositoryId, pullRequest, chain, limit: RUNS_OF_CHAIN });
}

/** The number of this head of the pull request for the chain, from 1. */
function roundOf({ run }: RunState, ofChain: readonly Run[]): number {
  const earlier = ofChain.filter((other) => other.createdAt <= run.createdAt).map((other) => other.headSha);
  return Math.max(1, new Set(earlier).size);
}

/** The most runs that are searched. Many pushes in a row leave runs that ended before their review. */
const EARLIER_RUNS = 20;

async function earlierReview(
  storage: Storage,
  { run }: RunState,
  stepId: string,
  ofChain: readonly Run[],
): Promise<ReviewVerdict | undefined> {
  for (const { id, createdAt } of ofChain.slice(0, EARLIER_RUNS)) {
    if (id === run.id || createdAt > run.createdAt) continue;
    const state = await storage.read.runs.load(id);
    const outcome = state?.invocations.find((step) => step.stepId === stepId)?.outcome;
    if (outcome?.outcome_kind === 'review_verdict') return outcome;
  }
  return undefined;
}

async function restOfReview(
  storage: Storage,
  { headSha }: Run,
  { oneFile, id }: Invocation,
): Promise<ReviewVerdict | undefined> {
  const artifact = oneFile?.rest ? await storage.read.artifacts.get(oneFile.rest) : undefined;
  if (artifact?.invocationId !== id || artifact.content === null) return undefined;
  const review = reviewVerdictSchema.safeParse(JSON.parse(artifact.content)).data;
  return review?.head_sha === headSha ? review : undefined;
}
