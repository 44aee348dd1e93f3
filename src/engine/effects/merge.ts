import { contentHash } from '../../core/canonical.ts';
import type { Clock } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { Ids } from '../../core/ids.ts';
import { redact } from '../../core/redact/redact.ts';
import { aboutRun, mergedOnce } from '../../domain/audit/entry.ts';
import type { EffectOf, EffectRow } from '../../domain/effect/effect.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import type { MergeProof } from '../../domain/policy/merge-gate.ts';
import type { RolloutLevel } from '../../domain/policy/rollout.ts';
import type { OwnMerge } from '../../domain/run/plan.ts';
import { isRunOver, isStepOver, type Run, type RunState } from '../../domain/run/run.ts';
import { type GitHub, GitHubError, type MergeResult, SignInRefused } from '../../ports/github.ts';
import type { ReadTx, Storage, Tx } from '../../ports/storage.ts';
import type { Writers } from './writers.ts';

/** Writes something in the transaction of somebody else. */
export type Note = (tx: Tx) => Promise<void>;

/**
 * @param before is written with the record that the call begins
 * @returns `made` if this call merged
 */
export type MergeOnce = (
  proof: MergeProof,
  approval: Approval,
  message: { title?: string; message?: string },
  before: Note,
) => Promise<MergeResult & { made?: EffectOf<'merge'> }>;

export function mergeKey(runId: string, headSha: string): string {
  return `merge:${runId}:${headSha}`;
}

/**
 * Executes the one effect that cannot wait in the outbox, because its proof lives for seconds. The row is
 * written before the call, with the people who countersigned, so that a crash in between is detected, and
 * after the call, so that it is never repeated. A 5xx or a broken connection does not say whether GitHub
 * merged, so the pull request is read before any decision. Blind retries made other bots merge twice.
 */
export function mergeOnce(
  deps: { storage: Storage; github: GitHub; writers: Writers; clock: Clock; ids: Ids },
  run: Pick<Run, 'installationId' | 'facts'>,
  /** The session that judged. It may act only while it is the step's current one. */
  sessionId: string,
  /** Called with what is being recorded while the session goes on. */
  recording: (record: Promise<unknown>) => void,
): MergeOnce {
  const { storage, github, writers, clock, ids } = deps;
  const { installationId } = run;
  return async (proof, approval, message, before) => {
    const { question } = proof;
    const key = mergeKey(question.runId, question.headSha);
    const effect: EffectOf<'merge'> = {
      kind: 'merge',
      installation_id: installationId,
      owner: question.owner,
      repo: question.repo,
      pull_request: question.pullRequest,
      head_sha: question.headSha,
      base_ref: question.baseRef,
      method: question.method,
      countersigned_by: [...proof.countersignedBy],
      invocation_id: approval.invocationId,
    };
    const permitted = await writers.for(effect, run);
    if ('withheld' in permitted) throw withheldNow(permitted.withheld);
    const { github: writer } = permitted;
    const desiredHash = contentHash(effect);
    const row = {
      key,
      appliedHash: null,
      status: 'pending',
      githubId: null,
      progress: {},
      attempts: 1,
      contentAt: null,
    } as const;
    let begunBefore = false;
    const made = await storage.transaction(async (tx) => {
      await refuseOvertaken(tx, question.runId, sessionId);
      await before(tx);
      const known = await tx.effects.get(key);
      const earlier = mergeOf(known);
      if (earlier) return earlier;
      begunBefore = known?.begun ?? false;
      await tx.approvals.save({ ...approval, status: 'open' });
      await request(tx);
      await tx.effects.saveProgress({ ...row, begun: true, error: null, updatedAt: clock.now() });
      return undefined;
    });
    if (made) return made;
    const result = await call();
    if (result.kind === 'merged') {
      // After a crash in between, the pull request is found merged, and the row says by whom.
      recording(storage.transaction((tx) => record(tx, result), { waitsFor: 'caller' }));
      return { ...result, made: effect };
    }
    return storage.transaction((tx) => record(tx, result));

    async function record(tx: Tx, result: MergeResult): Promise<MergeResult> {
      // If GitHub refuses the slower of two workers because the faster one merged, the faster one's record
      // stays.
      const meanwhile = mergeOf(await tx.effects.get(key));
      if (meanwhile) return meanwhile;
      // Another step of the run may have started since and recorded other people. Those of the successful
      // call count.
      if (result.kind === 'merged') await request(tx);
      await tx.effects.saveProgress({
        ...row,
        appliedHash: result.kind === 'merged' ? desiredHash : null,
        status: result.kind === 'merged' ? 'done' : 'failed',
        begun: result.kind === 'merged',
        progress: result.kind === 'merged' ? { merge_sha: result.sha } : {},
        error: result.kind === 'merged' ? null : describe(result),
        updatedAt: clock.now(),
      });
      if (result.kind === 'merged') await auditMerge(tx, key);
      return result;
    }

    function request(tx: Tx): Promise<boolean> {
      return tx.effects.request({ id: ids.next('eff'), key, effect, runId: question.runId, at: clock.now() });
    }

    async function call(): Promise<MergeResult> {
      try {
        const redacted = Object.fromEntries(
          Object.entries(message).map(([key, text]) => [key, redact(text)]),
        );
        return await writer.merge(proof, redacted);
      } catch (error) {
        const isUnknown =
          error instanceof GitHubError && error.kind === 'unavailable' && !(error instanceof SignInRefused);
        if (!isUnknown) {
          // GitHub rejected the call, so it merged nothing. Any later merge is not from this call.
          await storage.transaction((tx) =>
            tx.effects.saveProgress({
              ...row,
              begun: begunBefore,
              error: messageOf(error),
              updatedAt: clock.now(),
            }),
          );
          throw error;
        }
        const repo = { owner: question.owner, name: question.repo };
        const after = await github.reader(installationId, 'person').pullRequest(repo, question.pullRequest);
        if (after.merged && after.headSha === question.headSha) {
          return { kind: 'merged', sha: after.mergeCommitSha ?? '' };
        }
        throw error;
      }
    }
  };
}

/**
 * The merge of this head by this app, in any chain. `underWay`: the call was sent and its answer is missing.
 * If its run is over, the call counts as successful once GitHub shows the pull request as merged, because it
 * was sent and not rejected.
 */
export async function ownMerge(
  tx: ReadTx,
  of: { repositoryId: number; pullRequest: number; headSha: string },
): Promise<{ merge: OwnMerge; underWay: boolean } | undefined> {
  const sent = await tx.effects.mergesSent(of.repositoryId, of.pullRequest);
  const ofHead = sent.filter(({ effect }) => effect.kind === 'merge' && effect.head_sha === of.headSha);
  const row = ofHead.find(({ status }) => status === 'done') ?? ofHead[0];
  const run = row?.runId == null ? undefined : (await tx.runs.load(row.runId))?.run;
  if (!run || row?.effect.kind !== 'merge') return undefined;
  const { parent } = run.facts;
  return {
    merge: {
      runId: run.id,
      chain: run.chain,
      headSha: row.effect.head_sha,
      countersignedBy: row.effect.countersigned_by,
      ...(parent && { above: [parent.run, ...parent.above] }),
    },
    underWay: row.status !== 'done' && !isRunOver(run.status),
  };
}

/** The merge that a row records, which is final for this head in this run. */
function mergeOf(row: EffectRow | undefined): MergeResult | undefined {
  return row?.status === 'done' ? { kind: 'merged', sha: row.progress.merge_sha ?? '' } : undefined;
}

/** Completes the row of a merge whose answer was lost in a crash, once GitHub shows the merge. */
export async function confirmMerge(
  { storage, clock }: { storage: Storage; clock: Clock },
  key: string,
  sha: string,
): Promise<void> {
  await storage.transaction(async (tx) => {
    const row = await tx.effects.get(key);
    if (!row) return;
    await tx.effects.saveProgress({
      ...row,
      appliedHash: row.desiredHash,
      status: 'done',
      progress: { merge_sha: sha },
      error: null,
      updatedAt: clock.now(),
    });
    await auditMerge(tx, key);
  });
}

/** Records the merge in the audit log, in the transaction that completes its row. */
async function auditMerge(tx: Tx, key: string): Promise<void> {
  const row = await tx.effects.get(key);
  const run = row && row.runId !== null ? await tx.runs.get(row.runId) : undefined;
  if (!row || !run || row.effect.kind !== 'merge') return;
  const { head_sha, base_ref, method, countersigned_by: people, pull_request } = row.effect;
  await tx.audit.record(
    {
      kind: 'merge.made',
      ...aboutRun(run, { kind: 'app' }),
      pull_request,
      head_sha,
      base_ref,
      people,
      method,
      merge_sha: row.progress.merge_sha ?? '',
    },
    mergedOnce(run.repositoryId, pull_request),
  );
}

function describe(result: Exclude<MergeResult, { kind: 'merged' }>): string {
  switch (result.kind) {
    case 'head_moved':
      return 'the head moved';
    case 'not_mergeable':
    case 'refused':
      return result.message;
  }
}

/**
 * The rollout was lowered after the answers were judged. The next attempt judges them with the new level.
 */
export function withheldNow(level: RolloutLevel): GitHubError {
  return new GitHubError('unavailable', 0, `rollout is ${level}; nothing was sent`);
}

/** @throws GitHubError `unavailable` if the session may no longer act on its judgement */
export async function refuseOvertaken(tx: ReadTx, runId: string, sessionId: string): Promise<void> {
  if (isCurrent(await tx.runs.load(runId), sessionId)) return;
  throw new GitHubError('unavailable', 0, 'the step ended while it was being judged; nothing was sent');
}

/** False if the step was cancelled, paused, restarted or timed out while GitHub was being read. */
function isCurrent(state: RunState | undefined, sessionId: string): boolean {
  if (!state || state.run.paused || isRunOver(state.run.status)) return false;
  const step = state.invocations.find((invocation) => invocation.sessionId === sessionId);
  return step !== undefined && !isStepOver(step.status);
}
