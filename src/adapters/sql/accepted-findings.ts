import { type Kysely, type Selectable, sql } from 'kysely';
import type { RuleHistory } from '../../domain/outcome/learned.ts';
import type { AcceptedFinding, AcceptedFindings } from '../../ports/accepted-findings.ts';
import { toDate, toText } from './columns.ts';
import { compiledOnce } from './compiled.ts';
import { insertOnceCompiled } from './insert.ts';
import type { AcceptedFindingsTable, Database, FoundRulesTable, RuleSightingsTable } from './schema.ts';

const ofHead = compiledOnce((db, of: { repositoryId: number; pullRequest: number; headSha: string }) =>
  db
    .selectFrom('accepted_findings')
    .selectAll()
    .where('repository_id', '=', of.repositoryId)
    .where('pull_request', '=', of.pullRequest)
    .where('head_sha', '=', of.headSha)
    .orderBy('finding'),
);

const addFound = insertOnceCompiled((db, rows: readonly FoundRulesTable[]) =>
  db
    .insertInto('found_rules')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['repository_id', 'rule']).doUpdateSet((eb) => ({
        found: eb('found_rules.found', '+', eb.ref('excluded.found')),
        last_at: eb.ref('excluded.last_at'),
      })),
    ),
);

const addSightings = insertOnceCompiled((db, rows: readonly RuleSightingsTable[]) =>
  db
    .insertInto('rule_sightings')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['repository_id', 'rule', 'pull_request']).doNothing()),
);

export function acceptedFindingsTable(db: Kysely<Database>): AcceptedFindings {
  const within = (repositoryId: number | undefined) =>
    repositoryId === undefined ? sql<boolean>`TRUE` : sql<boolean>`repository_id = ${repositoryId}`;
  return {
    async put(accepted) {
      const { repository_id, pull_request, head_sha, finding, ...rest } = rowOf(accepted);
      await db
        .insertInto('accepted_findings')
        .values({ repository_id, pull_request, head_sha, finding, ...rest })
        .onConflict((conflict) =>
          conflict.columns(['repository_id', 'pull_request', 'head_sha', 'finding']).doUpdateSet(rest),
        )
        .execute();
    },

    async remove({ repositoryId, pullRequest }, finding) {
      await db
        .deleteFrom('accepted_findings')
        .where('repository_id', '=', repositoryId)
        .where('pull_request', '=', pullRequest)
        .where('finding', '=', finding)
        .execute();
    },

    async ofHead(head) {
      const { rows } = await ofHead(db, head);
      return rows.map(acceptedOf);
    },

    async countFound({ repositoryId, pullRequest }, found, at) {
      const rows = [...found].map(([rule, count]) => ({
        repository_id: repositoryId,
        rule,
        found: count,
        first_at: toText(at),
        last_at: toText(at),
      }));
      if (rows.length > 0) await addFound(db, rows);
      if (rows.length === 0 || pullRequest === null) return;
      const sightings = rows.map(({ repository_id, rule, first_at }) => ({
        repository_id,
        rule,
        pull_request: pullRequest,
        first_at,
      }));
      await addSightings(db, sightings);
    },

    async byRule(repositoryId) {
      const { rows } = await sql<{ rule: string; login: string; count: number; first: string }>`
        SELECT rule, by_login AS login, count(*) AS count, min(accepted_at) AS first FROM accepted_findings
          WHERE ${within(repositoryId)} GROUP BY rule, by_login ORDER BY rule, count DESC, login`.execute(db);
      return rows.map((row) => ({ ...row, first: toDate(row.first) }));
    },

    async found(repositoryId) {
      const { rows } = await sql<{ rule: string; found: number; first: string }>`
        SELECT rule, sum(found) AS found, min(first_at) AS first FROM found_rules
          WHERE ${within(repositoryId)} GROUP BY rule ORDER BY rule`.execute(db);
      return rows.map((row) => ({ ...row, first: toDate(row.first) }));
    },

    async history({ repositoryId, rules }) {
      const ofRules =
        rules === undefined
          ? sql<boolean>`TRUE`
          : sql<boolean>`a.rule IN (${sql.join(rules.length === 0 ? [''] : rules)})`;
      const ofRepository =
        repositoryId === undefined ? sql<boolean>`TRUE` : sql<boolean>`a.repository_id = ${repositoryId}`;
      const { rows } = await sql<AcceptedOnPullRequest>`
        SELECT a.repository_id, a.rule, a.pull_request, a.severity, a.by_id, a.by_login, a.accepted_at,
            (SELECT count(*) FROM rule_sightings f WHERE f.repository_id = a.repository_id AND f.rule = a.rule) AS found_on
          FROM accepted_findings a
          JOIN rule_sightings s
            ON s.repository_id = a.repository_id AND s.rule = a.rule AND s.pull_request = a.pull_request
          LEFT JOIN forgotten_rules g ON g.repository_id = a.repository_id AND g.rule = a.rule
          WHERE ${ofRepository} AND ${ofRules} AND (g.forgotten_at IS NULL OR a.accepted_at > g.forgotten_at)
          ORDER BY a.repository_id, a.rule, a.accepted_at DESC, a.pull_request, a.finding`.execute(db);
      const grouped = Map.groupBy(rows, ({ repository_id, rule }) => JSON.stringify([repository_id, rule]));
      return [...grouped.values()].flatMap(historyOf);
    },

    async forget({ repositoryId, rule }, by, at) {
      const rest = { forgotten_at: toText(at), by_login: by };
      await db
        .insertInto('forgotten_rules')
        .values({ repository_id: repositoryId, rule, ...rest })
        .onConflict((conflict) => conflict.columns(['repository_id', 'rule']).doUpdateSet(rest))
        .execute();
    },
  };
}

type AcceptedOnPullRequest = Pick<
  Selectable<AcceptedFindingsTable>,
  'repository_id' | 'rule' | 'pull_request' | 'severity' | 'by_id' | 'by_login' | 'accepted_at'
> & { found_on: number };

/** @param rows of one rule of one repository */
function historyOf(rows: readonly AcceptedOnPullRequest[]): RuleHistory[] {
  const [first] = rows;
  if (!first) return [];
  return [
    {
      repositoryId: first.repository_id,
      rule: first.rule,
      foundOn: first.found_on,
      accepted: rows.map((row) => ({
        pullRequest: row.pull_request,
        severity: row.severity,
        by: { id: row.by_id, login: row.by_login },
        at: toDate(row.accepted_at),
      })),
    },
  ];
}

function rowOf(accepted: AcceptedFinding): Selectable<AcceptedFindingsTable> {
  const { by } = accepted;
  return {
    repository_id: accepted.repositoryId,
    pull_request: accepted.pullRequest,
    head_sha: accepted.headSha,
    finding: accepted.finding,
    rule: accepted.rule,
    severity: accepted.severity,
    because: accepted.because,
    by_id: by.id,
    by_login: by.login,
    accepted_at: toText(accepted.at),
  };
}

function acceptedOf(row: Selectable<AcceptedFindingsTable>): AcceptedFinding {
  return {
    repositoryId: row.repository_id,
    pullRequest: row.pull_request,
    headSha: row.head_sha,
    finding: row.finding,
    rule: row.rule,
    severity: row.severity,
    because: row.because,
    by: { id: row.by_id, login: row.by_login },
    at: toDate(row.accepted_at),
  };
}
