import { canonicalJson } from '../../core/canonical.ts';
import type { Clock } from '../../core/clock.ts';
import type { Ids } from '../../core/ids.ts';
import type { Artifact } from '../../domain/artifact/artifact.ts';
import { isExpected, type ProducedFile } from '../../domain/artifact/verification.ts';
import { type Outcome, outcomeName } from '../../domain/outcome/outcome.ts';
import type { Run, Session } from '../../domain/run/run.ts';
import type { Blobs } from '../../ports/blobs.ts';
import type { ApprovalResult } from '../approvals/approval-context.ts';

/** What a session produces: its blobs in the store, and the rows for them and for its outcome. */
export interface SessionArtifacts {
  /**
   * Blobs are written before the transaction: an orphaned blob does no harm, but a row without its blob is a
   * loss.
   */
  store(run: Run, session: Session, result: ApprovalResult): Promise<Artifact[]>;
  /** Reads back from the store what the contract requires, because only readable artifacts count. */
  readBack(run: Run, session: Session, stored: readonly Artifact[]): Promise<ProducedFile[]>;
  /** The row of an outcome. */
  ofOutcome(run: Run, session: Session, outcome: Outcome): Artifact;
}

export function createSessionArtifacts(deps: { blobs: Blobs; clock: Clock; ids: Ids }): SessionArtifacts {
  const { blobs, clock, ids } = deps;

  function rowOf(run: Run, session: Session) {
    return {
      id: ids.next('art'),
      runId: run.id,
      invocationId: session.invocationId,
      sessionId: session.id,
      createdAt: clock.now(),
    };
  }

  return {
    async store(run, session, result) {
      const wanted = (result.kind === 'done' || result.kind === 'failed') && result.blobs ? result.blobs : [];
      const stored: Artifact[] = [];
      for (const { kind, name, data } of wanted) {
        const filePath = `${folderOf(run, session)}${name}`;
        await blobs.put(filePath, data);
        stored.push({ ...rowOf(run, session), kind, name, content: null, filePath });
      }
      return stored;
    },

    async readBack(run, session, stored) {
      const { contract } = session;
      if (contract === null) return [];
      const produced: ProducedFile[] = [];
      for (const { id, filePath } of stored) {
        const path = filePath?.slice(folderOf(run, session).length) ?? '';
        if (filePath === null || !isExpected(contract, path)) continue;
        const bytes = await blobs.get(filePath);
        if (bytes) produced.push({ path, bytes, artifactId: id });
      }
      return produced;
    },

    ofOutcome: (run, session, outcome) => ({
      ...rowOf(run, session),
      kind: outcome.outcome_kind,
      name: outcomeName(outcome),
      content: canonicalJson(outcome),
      filePath: null,
    }),
  };
}

/** Each session has its own folder in the blob store. */
function folderOf(run: Run, session: Session): string {
  return `${run.id}/${session.id}/`;
}
