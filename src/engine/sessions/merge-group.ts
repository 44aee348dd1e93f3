import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { merges } from '../../domain/chain/chain.ts';
import { anyMerges } from '../../domain/chain/chain-list.ts';
import type { EffectOf } from '../../domain/effect/effect.ts';
import type { EventOf } from '../../domain/event/event.ts';
import { criterion, type Explanation } from '../../domain/explanation/explanation.ts';
import { gateProtection } from '../../domain/policy/gate-check.ts';
import {
  type Gate,
  type GroupMember,
  judgeGroup,
  type MergeDecision,
} from '../../domain/policy/merge-gate.ts';
import { isMergeStep } from '../../domain/run/run.ts';
import { type ClosedAs, closedGroupGate, openGate } from '../../messages/check-run/gate-check.ts';
import type { GitHub, MergeQueueEntry } from '../../ports/github.ts';
import type { JobPayload, JobResult, JobRunner, NewJob } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Storage } from '../../ports/storage.ts';
import type { ApprovalContext } from '../approvals/approval-context.ts';
import type { ConfigurationLoader } from '../configuration/configuration.ts';
import { type GateChecks, gateCheckKey } from '../effects/gate-check.ts';
import { gateView } from '../runs/publish-gate.ts';
import type { ContextOf } from './context.ts';

type MergeGroupJob = JobPayload<'merge_group'>;

/**
 * How often a group is judged while GitHub tests it, in milliseconds. GitHub waits up to an hour for its
 * checks, and meanwhile somebody may withdraw a countersign.
 */
const JUDGE_AGAIN_MS = 10_000;
/** How long the group's check stays green unless it is judged again, in milliseconds. */
const LEASE_MS = 40_000;
/**
 * GitHub can report a group before its queue shows it: the time to wait for it, and between attempts, in
 * milliseconds.
 */
const SHOWN_WITHIN_MS = 120_000;
const SHOWN_RETRY_MS = 2_000;
const BUSY_RETRY_MS = 1_000;

export interface MergeGroups {
  /** GitHub created or destroyed a group. */
  on(event: EventOf<'group.requested' | 'group.destroyed'>): Promise<void>;
  /** Judges one group. When retries are exhausted, the group does not merge. */
  jobs: JobRunner<'merge_group'>;
}

/**
 * Answers for GitHub's merge queue. A group is one commit with several pull requests. Its gate check turns
 * green only if the gate proves each of them at that moment, including those queued before it, because the
 * commit contains their changes too.
 */
export function createMergeGroups(deps: {
  storage: Storage;
  github: GitHub;
  queue: Queue;
  gates: GateChecks;
  configuration: Pick<ConfigurationLoader, 'forPullRequest'>;
  contextOf: ContextOf;
  /** The merge gate's current decision for a merge step; `undefined` if nobody was asked yet. */
  judgeStep(context: ApprovalContext): Promise<MergeDecision | 'busy' | undefined>;
  clock: Clock;
  log: Log;
}): MergeGroups {
  const { storage, github, queue, gates, configuration, contextOf, judgeStep, clock, log } = deps;

  async function on(event: EventOf<'group.requested' | 'group.destroyed'>): Promise<void> {
    const { installation_id, repository, base_ref, head_sha } = event;
    const job: MergeGroupJob = {
      installation_id,
      repository,
      base_ref,
      head_sha,
      requested_at: clock.now().toISOString(),
    };
    if (event.kind === 'group.destroyed') return ended(job, event.reason === 'merged');
    if (!(await isGated(job))) return;
    await close(
      job,
      criterion('pending', 'each pull request of this merge group is being checked'),
      'pending',
    );
    await storage.transaction((tx) => queue.enqueue(tx, groupJob(job)));
  }

  /**
   * A branch without chains that merge is left alone, unless it requires the check. Then it gets an answer,
   * because the queue would otherwise wait for an hour.
   */
  async function isGated({ installation_id, repository, base_ref }: MergeGroupJob): Promise<boolean> {
    const { defaultBranch } = await github.reader(installation_id).repository(repository);
    const base = { baseRef: base_ref, defaultBranch };
    const found = await configuration.forPullRequest(installation_id, repository, base);
    if (found && (found.broken.length > 0 || anyMerges(found.chains))) return true;
    const required = await github.reader(installation_id).requiredChecks(repository, base_ref);
    return gateProtection(required, base_ref, github.appId) !== 'open';
  }

  async function judge(job: MergeGroupJob, signal: AbortSignal): Promise<JobResult> {
    const { installation_id, repository, base_ref, head_sha } = job;
    const reader = github.reader(installation_id, 'person');
    const readMembers = async () => entriesUpTo(await reader.mergeQueue(repository, base_ref), head_sha);
    const members = await readMembers();
    const now = clock.now().getTime();
    if (!members) {
      const isNew = now - new Date(job.requested_at).getTime() < SHOWN_WITHIN_MS;
      const wasOpen = await storage.read.effects.get(keyOf(job));
      if (isNew && !wasOpen?.progress.passed)
        return { kind: 'reschedule', at: new Date(now + SHOWN_RETRY_MS) };
      await ended(job, (await reader.branchTip(repository, base_ref)) === head_sha);
      return { kind: 'done' };
    }
    const gate: Gate = {
      owner: repository.owner,
      repo: repository.name,
      headSha: head_sha,
      baseRef: base_ref,
    };
    const judged = await Promise.all(members.map((entry) => judgeMember(job, entry, signal)));
    const known = judged.filter((one) => one !== 'busy');
    // A verdict that is only a moment away must not remove a pull request from the queue.
    if (known.length < judged.length) return { kind: 'reschedule', at: new Date(now + BUSY_RETRY_MS) };
    const { why: because, proof } = judgeGroup(gate, known, clock.now());
    if (!proof) {
      // A pull request of the group may have merged while it was judged, and GitHub drops a group that fails.
      const isAsRead = isDeepStrictEqual(members, await readMembers());
      if (!isAsRead) return { kind: 'reschedule', at: new Date(now + BUSY_RETRY_MS) };
      log.info({ group: head_sha, because: because.summary }, 'a merge group is not countersigned');
      await close(job, because, 'failing');
      return { kind: 'reschedule', at: new Date(now + JUDGE_AGAIN_MS) };
    }
    const view = await gateView(storage.read, repository.id, head_sha, base_ref);
    const passed = await gates.pass({
      key: keyOf(job),
      proof,
      content: openGate(view, proof),
      runId: null,
      invocationId: null,
      installationId: installation_id,
      leaseMs: LEASE_MS,
      refuseOvertaken: async () => signal.throwIfAborted(),
    });
    return {
      kind: 'reschedule',
      at: new Date(now + (passed.kind === 'busy' ? BUSY_RETRY_MS : JUDGE_AGAIN_MS)),
    };
  }

  async function judgeMember(
    { repository, base_ref }: MergeGroupJob,
    { number, headSha, baseRef }: MergeQueueEntry,
    signal: AbortSignal,
  ): Promise<GroupMember | 'busy'> {
    const member = { number, headSha };
    if (baseRef !== base_ref) return { ...member, decision: undefined };
    const runs = await storage.read.runs.list({
      repositoryId: repository.id,
      pullRequest: number,
      headSha,
      active: true,
    });
    let decision: MergeDecision | undefined;
    for (const run of runs) {
      if (run.baseRef !== base_ref || !merges(run.definition)) continue;
      const found = await decisionOf(run.id, signal);
      if (found === 'busy') return 'busy';
      if (found?.proof) return { ...member, decision: found };
      decision ??= found;
    }
    return { ...member, decision };
  }

  async function decisionOf(runId: string, signal: AbortSignal): Promise<MergeDecision | 'busy' | undefined> {
    const state = await storage.read.runs.load(runId);
    const step = state?.invocations.find(
      (candidate) => candidate.status === 'waiting_approval' && isMergeStep(state.run, candidate),
    );
    const found = step?.sessionId ? await storage.read.runs.getSession(step.sessionId) : undefined;
    if (!state || !found) return undefined;
    const asked = await storage.read.approvals.ofRun(runId);
    return judgeStep(contextOf({ state, asked, session: found.session }, 'event', signal));
  }

  /**
   * The group is gone. If it merged, its commit stays green. Otherwise it is closed, so that nobody can use
   * the commit as a head of their own.
   */
  async function ended(job: MergeGroupJob, landed: boolean): Promise<void> {
    const key = keyOf(job);
    if (!(await storage.read.effects.get(key))) return;
    const wasOpen = (await storage.read.effects.get(key))?.progress.passed !== undefined;
    if (landed && wasOpen) await storage.transaction((tx) => gates.settle(tx, key, clock.now()));
    else await close(job, criterion('unmet', 'this merge group is no longer in the queue'), 'over');
  }

  async function close(job: MergeGroupJob, because: Explanation, as: ClosedAs): Promise<void> {
    const { installation_id, repository, base_ref, head_sha } = job;
    const key = keyOf(job);
    await storage.transaction(async (tx) => {
      const at = (await tx.effects.get(key))?.createdAt ?? clock.now();
      const view = await gateView(tx, repository.id, head_sha, base_ref);
      const effect: EffectOf<'gate_check'> = {
        kind: 'gate_check',
        installation_id,
        owner: repository.owner,
        repo: repository.name,
        repository_id: repository.id,
        pull_request: null,
        base_ref,
        content: closedGroupGate(view, because, as, at),
      };
      await gates.close(tx, key, effect, { runId: null, at: clock.now(), atOnce: as !== 'pending' });
    });
  }

  return {
    on,
    jobs: {
      run: judge,
      async onRetriesExhausted(job, error) {
        log.error({ group: job.head_sha, err: error }, 'gave up on a merge group');
        await close(
          job,
          criterion('unknown', `this merge group could not be checked: ${messageOf(error)}`),
          'failing',
        );
      },
    },
  };
}

function keyOf({ repository, head_sha, base_ref }: MergeGroupJob): string {
  return gateCheckKey(repository.id, head_sha, base_ref);
}

function groupJob(job: MergeGroupJob): NewJob {
  return {
    kind: 'merge_group',
    installationId: job.installation_id,
    key: `group:${job.repository.id}:${job.head_sha}`,
    payload: job,
    coalesce: true,
  };
}

/** The entry with that commit and all entries before it; `undefined` if the queue has none. */
function entriesUpTo(entries: readonly MergeQueueEntry[], groupSha: string): MergeQueueEntry[] | undefined {
  const inOrder = entries.toSorted((a, b) => a.position - b.position);
  const index = inOrder.findIndex((entry) => entry.groupSha === groupSha);
  return index < 0 ? undefined : inOrder.slice(0, index + 1);
}
