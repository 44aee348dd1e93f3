import BetterSqlite3 from 'better-sqlite3';
import type { GitHubStandIn } from '../support/github/stand-in.ts';

/** What a pull request came to: on GitHub, as people see it, and in the database. Equal for equal stories. */
export interface EndState {
  pullRequest: { state: string; merged: boolean; method: string | undefined; merges: number };
  comments: string[];
  labels: string[];
  checkRuns: unknown[];
  rows: Record<string, unknown[]>;
}

/**
 * Only where things ended is compared, not the way there: how often something was tried, which waits a run went through
 * and how many edits GitHub told of depend on the moment, and on more than a crash.
 */
const ROWS = {
  deliveries: 'SELECT DISTINCT status FROM deliveries',
  runs: 'SELECT chain, status, reason_json FROM chain_runs ORDER BY id',
  invocations:
    'SELECT step_id, status, reason_json, attempts, outcome_json FROM invocations ORDER BY run_id, step_index',
  sessions: `SELECT step_id, s.attempt, s.status, s.reason_json
    FROM sessions s JOIN invocations i ON i.id = invocation_id ORDER BY step_index, s.id`,
  artifacts: `SELECT step_id, kind, name
    FROM artifacts a JOIN invocations i ON i.id = invocation_id ORDER BY step_index, kind, name`,
  approvals: 'SELECT status, decision_json, countersigned_by_json FROM approvals ORDER BY asked_at',
  effects: `SELECT key, status, wished_hash = applied_hash AS applied, error
    FROM effects ORDER BY substr(key, 1, instr(key, ':')), created_at`,
  jobs: "SELECT kind, lease_token FROM jobs WHERE kind <> 'wake' ORDER BY kind",
};

export function readEndState(
  github: GitHubStandIn,
  database: string,
  at: { repo: string; number: number; headSha: string },
): EndState {
  const { state, merged, mergeMethod } = github.pullRequest(at.repo, at.number);
  return {
    pullRequest: {
      state,
      merged,
      method: mergeMethod,
      merges: github.merges.filter(({ number }) => number === at.number).length,
    },
    comments: github
      .comments(at.repo, at.number)
      .map(({ author, body }) => `${author}: ${timeless(body)}`)
      .sort(),
    labels: github.labels(at.repo, at.number).sort(),
    checkRuns: github
      .checkRuns(at.repo, at.headSha)
      .filter(({ app }) => app === github.app.slug)
      .map(({ id: _id, externalId: _externalId, ...shown }) => timelessIn(shown)),
    rows: readRows(database),
  };
}

function readRows(path: string): EndState['rows'] {
  const db = new BetterSqlite3(path, { readonly: true });
  try {
    return Object.fromEntries(
      Object.entries(ROWS).map(([table, sql]) => [table, db.prepare(sql).all().map(timelessIn)]),
    );
  } finally {
    db.close();
  }
}

function timelessIn(value: unknown): unknown {
  return JSON.parse(timeless(JSON.stringify(value)));
}

/** The text without what differs between two runs of the same story: ids, commits, addresses, moments and lengths of time. */
function timeless(text: string): string {
  return text
    .replaceAll(/\b(run|inv|ses|art|eff|apr)_[0-9a-z]{20,}/g, '$1_id')
    .replaceAll(/sha256:[0-9a-f]{64}/g, 'hash')
    .replaceAll(/\b[0-9a-f]{40}\b/g, 'commit')
    .replaceAll(/\b(?=[0-9a-f]*\d)[0-9a-f]{7}\b/g, 'commit')
    .replaceAll(/\b(?=\d*[a-f])[0-9a-f]{7}\b/g, 'commit')
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'http://host')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'moment')
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?/g, 'moment')
    .replaceAll(/\b\d\d:\d\d(:\d\d)?\b/g, 'moment')
    .replaceAll(/(_ms\\?":)[\d.]+/g, '$10')
    .replaceAll(/\b[\d.]+ (ms|s|min)\b/g, 'while')
    .replaceAll(/\/(runs|check-runs|comments?)\/\d+/g, '/$1/number')
    .replaceAll(/#issuecomment-\d+/g, '#issuecomment-number');
}
