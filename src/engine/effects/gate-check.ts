import type { Clock } from '../../core/clock.ts';
import type { AuditEntry } from '../../domain/audit/entry.ts';
import type { EffectOf, EffectRow, GatePass, OpenGateContent } from '../../domain/effect/effect.ts';
import { type GateProof, gateOf } from '../../domain/policy/merge-gate.ts';
import type { NewJob } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Storage, Tx } from '../../ports/storage.ts';
import { withheldNow } from './merge.ts';
import { effectJob, effectKey, type Outbox, SETTLE_MS } from './outbox.ts';
import { GITHUB_REQUEST_LIMIT_MS } from './request-timeout.ts';
import type { Writers } from './writers.ts';

/** One gate check per head and base of a repository, even if several pull requests share them. */
export function gateCheckKey(repositoryId: number, headSha: string, baseRef: string): string {
  return `gate_check:${repositoryId}:${headSha}:${baseRef}`;
}

/** The job that writes the check. An open one must not wait behind other work to be closed. */
export function gateJob(key: string, installationId: number, runAt: Date): NewJob {
  return { ...effectJob(key, installationId, runAt), worth: 'first' };
}

export interface PassRequest {
  key: string;
  proof: GateProof;
  content: OpenGateContent;
  /** `null` for a merge group, which has neither run nor step. */
  runId: string | null;
  invocationId: string | null;
  installationId: number;
  /** How long the check stays green unless it is renewed, in milliseconds. */
  leaseMs: number;
  /**
   * Throws if the caller may no longer act on what it read. Called in the transaction before the request to
   * GitHub.
   */
  refuseOvertaken(tx: Tx): Promise<void>;
}

interface CloseOptions {
  runId: string | null;
  at: Date;
  /** Something waits for the result, as a merge queue does. */
  atOnce?: boolean;
}

export type Passed =
  /**
   * @property since when it has been green without interruption
   * @property note records that GitHub shows it, in the caller's next transaction. Until then, closing it costs a
   * request more.
   */
  | { kind: 'open'; since: Date; note(tx: Tx): Promise<void> }
  /** The check does not exist on GitHub yet, or the outbox is writing to it. Ask again soon. */
  | { kind: 'busy' }
  /** GitHub refused the app's write to the check. */
  | { kind: 'refused'; because: string };

/**
 * Manages the gate checks. Closing one is an ordinary effect: stored, and safe to repeat. Opening one is not:
 * it requires a proof that lives for seconds, and a lease is stored before the request to GitHub. So the
 * outbox closes the check again, whatever crashes afterwards.
 */
export interface GateChecks {
  /**
   * Makes sure that the check has this content and is not green, even if it had the same content before it
   * turned green.
   */
  close(tx: Tx, key: string, effect: EffectOf<'gate_check'>, options: CloseOptions): Promise<void>;
  /** Closes the check again if it is green, with its previous content. */
  withdraw(tx: Tx, key: string, at: Date): Promise<void>;
  /**
   * Turns the check green, or renews its lease.
   * @throws GitHubError if the proof is stale, the caller was superseded, or GitHub does not answer
   */
  pass(request: PassRequest): Promise<Passed>;
  /** The pull request is merged. The check stays green until another pull request needs it closed. */
  settle(tx: Tx, key: string, at: Date): Promise<void>;
}

export function createGateChecks(deps: {
  storage: Storage;
  writers: Writers;
  queue: Queue;
  outbox: Outbox;
  clock: Clock;
}): GateChecks {
  const { storage, writers, queue, outbox, clock } = deps;

  async function close(
    tx: Tx,
    key: string,
    effect: EffectOf<'gate_check'>,
    { runId, at, atOnce = false }: CloseOptions,
  ): Promise<void> {
    const before = await tx.effects.get(key);
    // Changes of a closed check's text can wait for the next change. Its first version is urgent, because it
    // blocks the merge button.
    const settleMs = before && !atOnce ? SETTLE_MS.update : SETTLE_MS.urgent;
    await outbox.request(tx, key, effect, { runId, at, settleMs });
    if (before?.progress.passed) await withdraw(tx, key, at);
  }

  async function withdraw(tx: Tx, key: string, at: Date): Promise<void> {
    const row = await tx.effects.get(key);
    if (!row?.progress.passed) return;
    await tx.effects.saveProgress(closed(row, at));
    if (row.progress.passed.until !== null) await tx.audit.record(gateClosed(row, 'withdrawn'));
    await queue.enqueue(tx, gateJob(key, row.effect.installation_id, at));
  }

  async function pass(request: PassRequest): Promise<Passed> {
    const { key, proof, content, runId, installationId } = request;
    const { owner, repo } = gateOf(proof);
    const permitted = await writers.for(
      { kind: 'gate_check', installation_id: installationId, owner, repo },
      undefined,
    );
    if ('withheld' in permitted) throw withheldNow(permitted.withheld);
    const now = clock.now();
    const begun = await storage.transaction(async (tx) => {
      await request.refuseOvertaken(tx);
      const row = await tx.effects.get(key);
      const known = row?.progress.passed;
      if (row?.status === 'failed')
        return { kind: 'refused' as const, because: row.error ?? 'no reason given' };
      // While the outbox writes to the check, its request could arrive after this one and close the gate
      // during the merge.
      if (!row || row.githubId === null || (await tx.jobs.isUnderWay(effectKey(key))))
        return { kind: 'busy' as const };
      const passed: GatePass = {
        run_id: runId,
        invocation_id: request.invocationId,
        since: known?.since ?? now.toISOString(),
        until: new Date(now.getTime() + request.leaseMs).toISOString(),
        wished_hash: row.desiredHash,
        shown: known?.shown ?? false,
      };
      await tx.effects.saveProgress({
        ...row,
        appliedHash: null,
        status: 'pending',
        // GitHub never reopens a completed check run, so closing the gate as "pending" takes a new one.
        progress: { ...row.progress, concluded: true, passed },
        updatedAt: now,
      });
      await queue.enqueue(tx, gateJob(key, installationId, new Date(now.getTime() + request.leaseMs)));
      if (!known) await tx.audit.record(openedEntry(row, proof, runId));
      return { kind: 'begun' as const, githubId: row.githubId, passed };
    });
    if (begun.kind !== 'begun') return begun;
    const { githubId, passed } = begun;
    if (!passed.shown) await permitted.github.passGate(proof, githubId, content);
    return {
      kind: 'open',
      since: new Date(passed.since),
      note: async (tx) => {
        if (!passed.shown) await recordShown(tx, key);
      },
    };
  }

  /**
   * A request that closed the gate meanwhile may have reached GitHub before this one, so the gate is closed
   * again.
   */
  async function recordShown(tx: Tx, key: string): Promise<void> {
    const row = await tx.effects.get(key);
    if (!row) return;
    const at = clock.now();
    const { passed } = row.progress;
    if (passed) {
      const progress = { ...row.progress, passed: { ...passed, shown: true } };
      await tx.effects.saveProgress({ ...row, progress, updatedAt: at });
      return;
    }
    await tx.effects.saveProgress(closed(row, at));
    await queue.enqueue(tx, gateJob(key, row.effect.installation_id, at));
  }

  async function settle(tx: Tx, key: string, at: Date): Promise<void> {
    const row = await tx.effects.get(key);
    if (!row?.progress.passed) return;
    await tx.effects.saveProgress({
      ...row,
      appliedHash: row.desiredHash,
      status: 'done',
      progress: { ...row.progress, passed: { ...row.progress.passed, until: null } },
      updatedAt: at,
    });
    // It would have closed the check.
    await tx.jobs.removeWaiting('effect', effectKey(key));
  }

  return { close, withdraw, pass, settle };
}

function aboutGate({ effect }: EffectRow, runId: string | null) {
  if (effect.kind !== 'gate_check') throw new Error(`an effect of the kind ${effect.kind} is no gate check`);
  return {
    by: { kind: 'app' as const },
    repository: { id: effect.repository_id, name: `${effect.owner}/${effect.repo}` },
    pull_request: effect.pull_request,
    head_sha: effect.content.head_sha,
    base_ref: effect.base_ref,
    configuration_sha: null,
    run_id: runId,
  };
}

function openedEntry(row: EffectRow, proof: GateProof, runId: string | null): AuditEntry {
  const about = aboutGate(row, runId);
  if ('question' in proof) return { kind: 'gate.opened', ...about, people: [...proof.countersignedBy] };
  const people = new Set(proof.members.flatMap(({ countersignedBy }) => countersignedBy));
  const members = proof.members.map(({ question }) => question.pullRequest);
  return { kind: 'gate.opened', ...about, people: [...people], members };
}

export function gateClosed(row: EffectRow, because: 'withdrawn' | 'not_renewed'): AuditEntry {
  return { kind: 'gate.closed', ...aboutGate(row, row.progress.passed?.run_id ?? null), because };
}

/**
 * The row of a check that must be written again because it may be green. A request to open it without an
 * answer may still be executing at GitHub, so the check is closed now and again when that request must have
 * ended.
 */
export function closed(row: EffectRow, at: Date): EffectRow {
  const { passed, ...progress } = row.progress;
  const unanswered = passed !== undefined && !passed.shown;
  const unsureUntil = new Date(at.getTime() + GITHUB_REQUEST_LIMIT_MS).toISOString();
  return {
    ...row,
    appliedHash: null,
    status: 'pending',
    progress: { ...progress, concluded: true, ...(unanswered ? { unsure_until: unsureUntil } : {}) },
    updatedAt: at,
  };
}

/** Whether the outbox must not write to the check now: it is green, and nothing else was requested since. */
export function isLeftOpen(row: EffectRow, now: Date): false | { until: Date | undefined } {
  const { passed } = row.progress;
  if (!passed || passed.wished_hash !== row.desiredHash) return false;
  if (passed.until === null) return { until: undefined };
  const until = new Date(passed.until);
  return now < until && { until };
}
