import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import { z } from 'zod';
import { UNDONE_REASONS } from '../../domain/explanation/reason.ts';
import type { CountersignRules, StepApproval } from '../../domain/policy/countersign-rules.ts';
import {
  MOST_LINES_COUNTED,
  type OpenQuestion,
  type Overview,
  type OverviewFilter,
  type PullRequestAtAddress,
  type RunLine,
} from '../../ports/overview.ts';
import { fromJson, parseJson, toDate, toDateOrNull, toText } from './columns.ts';
import { caseless, contains, JOIN_IN_ORDER, memberJson, memberOfElement, unindexed } from './dialect.ts';
import { UNFINISHED } from './run-statuses.ts';
import type { ChainRunsTable, Database, PullRequestsTable } from './schema.ts';
import { visibleIn } from './visible-in.ts';

const words = (list: readonly string[]) => sql.join(list.map((word) => sql.lit(word)));
/** A run that a person cancelled, or that another one replaced, did not fail. */
const STOPPED = words(['failed', 'timed_out', 'aborted']);
const UNDONE = words(UNDONE_REASONS);
/** Of a run that completed. Transitions of archived runs are in the archive. */
const REASON = sql`(SELECT reason_code FROM transitions WHERE subject_id = r.id ORDER BY id DESC LIMIT 1)`;

const LINE = sql`r.id, r.repository_id, r.repository, r.pull_request, r.head_sha, r.chain, r.status, r.created_at,
  coalesce(r.finished_at, r.updated_at) AS changed_at, p.title, p.author_id, p.author_login,
  CASE WHEN r.status = 'completed' THEN ${REASON} END AS reason_code`;
const PULL_REQUEST = sql`
  LEFT JOIN pull_requests AS p ON p.repository_id = r.repository_id AND p.number = r.pull_request`;

/** What a search for text looks in. */
const SEARCHED = sql`coalesce(p.title, '') || '\n' || r.repository || '#' || coalesce(CAST(r.pull_request AS TEXT), '') || '\n' || r.chain`;

const APPROVAL_OF_STEP = memberOfElement('r.definition_json', {
  array: 'steps',
  index: 'i.step_index',
  member: 'approval',
});

/** A newer run of the chain replaced the run. */
const REPLACED = sql`EXISTS (
  SELECT 1 FROM chain_runs AS newer
    WHERE newer.repository_id = r.repository_id AND newer.pull_request IS NOT DISTINCT FROM r.pull_request AND newer.chain = r.chain
    AND (newer.created_at, newer.id) > (r.created_at, r.id))`;

type LineRow = Pick<
  Selectable<ChainRunsTable>,
  'id' | 'repository_id' | 'repository' | 'pull_request' | 'head_sha' | 'chain' | 'status' | 'created_at'
> &
  Pick<Selectable<PullRequestsTable>, 'title' | 'author_id' | 'author_login'> & {
    changed_at: string;
    reason_code: string | null;
  };

interface QuestionColumns {
  asked_at: string | null;
  countersigned_by_json: string | null;
  rules_json: string | null;
  approval_json: string | null;
}

const logins = z.array(z.string());

/** Only reads. */
export function overviewOf(db: Kysely<Database>): Overview {
  return {
    async active(filter, { after, limit, asking = false }) {
      // Unfinished runs are never packed, so SQL can read what a question needs of their JSON.
      const { rows } = await sql<LineRow & QuestionColumns>`
        SELECT ${LINE}, a.asked_at, a.countersigned_by_json,
            CASE WHEN a.id IS NOT NULL THEN ${memberJson('r.settings_json', 'countersign')} END AS rules_json,
            CASE WHEN a.id IS NOT NULL
              THEN ${APPROVAL_OF_STEP} END AS approval_json
          FROM chain_runs AS r ${PULL_REQUEST}
          LEFT JOIN approvals AS a ON a.id = (
            SELECT id FROM approvals WHERE run_id = r.id AND status = 'open' ORDER BY asked_at LIMIT 1)
          LEFT JOIN invocations AS i ON i.id = a.invocation_id
          WHERE r.status IN (${asking ? sql.lit('waiting_approval') : UNFINISHED}) AND ${matching(filter)}
            AND (r.created_at, r.id) > (${after?.at ?? ''}, ${after?.id ?? ''})
          ORDER BY r.created_at, r.id LIMIT ${limit}`.execute(db);
      return rows.map((row) => ({ ...lineOf(row), question: questionOf(row) }));
    },

    async stopped(filter, { after, limit, otherSince }) {
      const { rows } = await sql<LineRow>`
        SELECT * FROM (${stopped(filter, otherSince)}) AS found
          WHERE (changed_at, id) < (${after?.at ?? '9'}, ${after?.id ?? ''})
          ORDER BY changed_at DESC, id DESC LIMIT ${limit}`.execute(db);
      return rows.map(lineOf);
    },

    async counts(filter, { otherSince }) {
      const most = sql.lit(MOST_LINES_COUNTED);
      const active = (statuses: RawBuilder<unknown>) => sql`
        (SELECT count(*) FROM (SELECT 1 FROM chain_runs AS r ${PULL_REQUEST}
          WHERE r.status IN (${statuses}) AND ${matching(filter)} LIMIT ${most}) AS found)`;
      const { rows } = await sql<{ active: number; asking: number; stopped: number }>`
        SELECT ${active(UNFINISHED)} AS active, ${active(sql.lit('waiting_approval'))} AS asking,
          (SELECT count(*) FROM (SELECT 1 FROM (${stopped(filter, otherSince)}) AS each LIMIT ${most}) AS found) AS stopped`.execute(
        db,
      );
      return rows[0] ?? { active: 0, asking: 0, stopped: 0 };
    },

    async ofPullRequest({ repositoryId, number }, limit) {
      const { rows } = await sql<LineRow>`
        SELECT ${LINE} FROM chain_runs AS r ${PULL_REQUEST}
          WHERE r.repository_id = ${repositoryId} AND r.pull_request = ${number}
          ORDER BY r.created_at DESC, r.id DESC LIMIT ${limit}`.execute(db);
      return rows.map(lineOf);
    },

    async atAddress(repository, number) {
      const { rows } = await sql<Selectable<PullRequestsTable>>`
        SELECT * FROM pull_requests WHERE ${sameName('repository', repository)} AND number = ${number}
        UNION ALL
        SELECT p.* FROM former_names AS f JOIN pull_requests AS p ON p.repository_id = f.repository_id
          WHERE ${sameName('f.repository', repository)} AND p.number = ${number}`.execute(db);
      // A repository that was deleted and made again has two rows.
      const [row] = rows.toSorted((a, b) => rank(a, repository) - rank(b, repository));
      return row && pullRequestOf(row);
    },

    async pullRequests({ visible, repository, state, author }, { after, limit }) {
      const conditions: RawBuilder<boolean>[] = [visibleIn(visible, sql.ref('repository_id'))];
      if (repository !== undefined) conditions.push(sameName('repository', repository));
      if (state === 'open') conditions.push(sql`(state IS NULL OR state = 'open')`);
      else if (state !== undefined) conditions.push(sql`${unindexed('state')} = ${state}`);
      if (author !== undefined) conditions.push(sameName('author_login', author));
      if (after) conditions.push(sql`(repository_id, number) < (${after.repositoryId}, ${after.number})`);
      const { rows } = await sql<Selectable<PullRequestsTable>>`
        SELECT * FROM pull_requests WHERE ${sql.join(conditions, sql` AND `)}
          ORDER BY repository_id DESC, number DESC LIMIT ${limit}`.execute(db);
      return rows.map(pullRequestOf);
    },

    async repositoryAt(repository) {
      const { rows } = await sql<
        Pick<Selectable<PullRequestsTable>, 'repository_id' | 'installation_id' | 'repository' | 'state'>
      >`
        SELECT repository_id, installation_id, repository, state FROM (
          SELECT * FROM pull_requests WHERE ${sameName('repository', repository)} ORDER BY number DESC LIMIT 1) AS present
        UNION ALL
        SELECT repository_id, installation_id, repository, state FROM (
          SELECT p.* FROM former_names AS f JOIN pull_requests AS p ON p.repository_id = f.repository_id
            WHERE ${sameName('f.repository', repository)} LIMIT 1) AS former`.execute(db);
      const [row] = rows.toSorted((a, b) => rank(a, repository) - rank(b, repository));
      return (
        row && {
          repositoryId: row.repository_id,
          installationId: row.installation_id,
          repository: row.repository,
        }
      );
    },

    async chains(visible, limit) {
      const { rows } = await sql<{ chain: string }>`
        SELECT DISTINCT chain FROM chain_runs AS r
          WHERE r.status IN (${UNFINISHED}) AND ${visibleIn(visible, sql.ref('r.repository_id'))}
          ORDER BY chain LIMIT ${limit}`.execute(db);
      return rows.map(({ chain }) => chain);
    },
  };
}

function sameName(column: string, name: string): RawBuilder<boolean> {
  return sql<boolean>`${caseless(sql.ref(column))} = ${caseless(sql`${name}`)}`;
}

function pullRequestOf(row: Selectable<PullRequestsTable>): PullRequestAtAddress {
  return {
    repositoryId: row.repository_id,
    repository: row.repository,
    number: row.number,
    title: row.title,
    author: row.author_login,
    state: row.state,
    stateAt: toDateOrNull(row.state_at),
    pausedBy: row.paused_by,
    headSha: row.head_sha,
  };
}

/** The one with that name now comes before the one that had it, and one that is there before one that is gone. */
function rank(row: Pick<Selectable<PullRequestsTable>, 'repository' | 'state'>, name: string): number {
  return (row.repository.toLowerCase() === name.toLowerCase() ? 0 : 2) + (row.state === 'gone' ? 1 : 0);
}

/** From the open pull requests, which are few, to their runs: SQLite would go the other way around. */
function stopped(filter: OverviewFilter, otherSince: Date): RawBuilder<LineRow> {
  return sql<LineRow>`
    SELECT ${LINE} FROM pull_requests AS p ${JOIN_IN_ORDER} chain_runs AS r
      ON r.repository_id = p.repository_id AND r.pull_request = p.number AND r.head_sha = p.head_sha
      WHERE (p.state IS NULL OR p.state = 'open') AND ${matching(filter)} AND NOT ${REPLACED}
        AND (${unindexed('r.status')} IN (${STOPPED}) OR (${unindexed('r.status')} = 'completed' AND ${REASON} IN (${UNDONE})))
    UNION ALL
    SELECT ${LINE} FROM chain_runs AS r ${PULL_REQUEST}
      WHERE r.status IN (${STOPPED}) AND r.pull_request IS NULL AND r.created_at >= ${toText(otherSince)}
        AND ${matching(filter)} AND NOT ${REPLACED}`;
}

function matching(filter: OverviewFilter): RawBuilder<boolean> {
  const { visible, repository, chain, status, author, since, text } = filter;
  const conditions: RawBuilder<boolean>[] = [visibleIn(visible, sql.ref('r.repository_id'))];
  if (repository !== undefined)
    conditions.push(sql`${caseless(unindexed('r.repository'))} = ${caseless(sql`${repository}`)}`);
  if (chain !== undefined) conditions.push(sql`${unindexed('r.chain')} = ${chain}`);
  if (status !== undefined) conditions.push(sql`${unindexed('r.status')} = ${status}`);
  if (author !== undefined) conditions.push(sameName('p.author_login', author));
  if (since !== undefined) conditions.push(sql`${unindexed('r.created_at')} >= ${toText(since)}`);
  if (text !== undefined) conditions.push(contains(sql`lower(${SEARCHED})`, sql`lower(${text})`));
  return sql.join(conditions, sql` AND `) as RawBuilder<boolean>;
}

function lineOf(row: LineRow): RunLine {
  return {
    id: row.id,
    repositoryId: row.repository_id,
    repository: row.repository,
    pullRequest: row.pull_request,
    headSha: row.head_sha,
    chain: row.chain,
    status: row.status,
    createdAt: toDate(row.created_at),
    changedAt: toDate(row.changed_at),
    reasonCode: row.reason_code,
    title: row.title,
    author:
      row.author_id === null || row.author_login === null
        ? null
        : { id: row.author_id, login: row.author_login },
  };
}

function questionOf({
  asked_at,
  countersigned_by_json,
  rules_json,
  approval_json,
  head_sha,
}: QuestionColumns & Pick<LineRow, 'head_sha'>): OpenQuestion | undefined {
  if (asked_at === null || rules_json === null) return undefined;
  const approval = approval_json === null ? null : parseJson<StepApproval | null>(approval_json);
  return {
    askedAt: toDate(asked_at),
    rules: parseJson<CountersignRules>(rules_json),
    approval: approval ?? undefined,
    countersignedBy: fromJson(logins, countersigned_by_json ?? '[]'),
    headSha: head_sha,
  };
}
