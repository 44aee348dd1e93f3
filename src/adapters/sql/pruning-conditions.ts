import { type RawBuilder, sql } from 'kysely';
import { unindexed } from './dialect.ts';
import { ENDED } from './run-statuses.ts';

/**
 * The conditions, in SQL, that keep a row regardless of its age. They are plain SQL so that a reader can
 * compare each with its row of the table in docs/storage.md.
 *
 * An index on a column that is not `unindexed` makes a batch take 340 ms instead of 3 ms.
 */

/** The run `r` ended before the time, and neither an approval comment nor a job of it is open. */
export const isDone = (before: string): RawBuilder<boolean> => sql<boolean>`
  ${unindexed('r.status')} IN (${ENDED}) AND coalesce(r.finished_at, r.updated_at) < ${before}
  AND NOT EXISTS (SELECT 1 FROM approvals WHERE run_id = r.id AND status = 'open')
  AND NOT EXISTS (SELECT 1 FROM effects WHERE run_id = r.id AND ${unindexed('status')} = 'pending')
  AND NOT EXISTS (SELECT 1 FROM jobs WHERE key IN ('wake:' || r.id, 'run:' || r.id))
  AND NOT EXISTS (
    SELECT 1 FROM invocations JOIN sessions ON sessions.invocation_id = invocations.id
      JOIN jobs ON jobs.key = 'session:' || sessions.id
      WHERE invocations.run_id = r.id)
  AND NOT EXISTS (
    SELECT 1 FROM deliveries WHERE deliveries.id = r.delivery_id AND deliveries.status IN ('received', 'processing'))`;

/** The pull request `p` of the run `r` is closed, merged or gone. */
export const isClosed = sql<boolean>`p.state IN ('closed', 'merged', 'gone')`;

/** The runs among these ids that may be deleted. */
export const removableRuns = (ids: readonly unknown[], before: string): RawBuilder<{ id: string }> => sql`
  SELECT r.id FROM chain_runs AS r
    LEFT JOIN pull_requests AS p ON p.repository_id = r.repository_id AND p.number = r.pull_request
    WHERE r.id IN (${sql.join(ids)}) AND ${isDone(before)}
    AND (r.pull_request IS NULL OR (
      ${isClosed} AND p.state_at < ${before}
      AND NOT EXISTS (
        SELECT 1 FROM chain_runs AS other
          WHERE other.repository_id = r.repository_id AND other.pull_request = r.pull_request AND ${unindexed('other.status')} NOT IN (${ENDED}))
      AND NOT EXISTS (SELECT 1 FROM jobs WHERE key = 'pr:' || r.repository_id || '#' || r.pull_request)
      -- What is not merged can be reopened: a rejection holds for its head however long that takes, unless a countersign followed it.
      AND (p.state = 'merged' OR NOT EXISTS (
        SELECT 1 FROM approvals WHERE run_id = r.id AND ${unindexed('status')} IN ('rejected', 'countersigned')))
      -- What the app could not say when it was shut out, it says when it is let in again.
      AND (p.state <> 'gone' OR NOT EXISTS (SELECT 1 FROM effects WHERE run_id = r.id AND ${unindexed('status')} = 'failed' AND begun = 1))
    ))`;

/**
 * The runs among these ids that cannot continue. Only the newest run of a chain can, by a command or a green
 * CI, and only while its pull request is open.
 */
export const endedRuns = (ids: RawBuilder<unknown>, before: string): RawBuilder<{ id: string }> => sql`
  SELECT r.id FROM chain_runs AS r
    LEFT JOIN pull_requests AS p ON p.repository_id = r.repository_id AND p.number = r.pull_request
    WHERE r.id IN (${ids}) AND ${isDone(before)}
    AND (r.pull_request IS NULL OR ${isClosed} OR EXISTS (
      SELECT 1 FROM chain_runs AS newer
        WHERE newer.repository_id = r.repository_id AND newer.pull_request = r.pull_request AND newer.chain = r.chain
        AND (newer.created_at, newer.id) > (r.created_at, r.id)))`;

/**
 * Only a delivery reports such an event again. GitHub and the hourly reconciliation can report a merge or a close at any
 * time, so what these fired is kept. The text is that of the index `fired_once_by_time`.
 */
export const canBeForgotten = sql<boolean>`subject NOT LIKE '["pr.merged"%' AND subject NOT LIKE '["pr.closed"%'`;
