import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { REPO } from '../../demo/world.ts';
import { isGateCheck } from '../support/github/read.ts';
import type { GitHubStandIn } from '../support/github/stand-in.ts';
import { artifactsIn } from './app-process.ts';
import type { StoryDatabase } from './database.ts';

/** The pull request that a story is about, or, without a head, the issue. */
export interface Subject {
  number: number;
  headSha?: string;
}

/** The result of a story: on GitHub, as people see it, and in the database. Equal for equal stories. */
export interface EndState {
  subject: unknown;
  merges: unknown[];
  reviews: unknown[];
  issues: unknown[];
  /** With the reactions to each. */
  comments: string[];
  /** The newest of each run: a run that is rerun after its end gets a new one, if there is time to see it work. */
  checkRuns: unknown[];
  /** Runs with more check runs than they had ends; must be empty. */
  doubledCheckRuns: string[];
  /** Deliveries that GitHub sent and the database does not have, and the reverse; both must be empty. */
  deliveries: { lost: string[]; invented: string[] };
  /** Artifacts whose file does not exist; must be empty. */
  missingFiles: string[];
  rows: Record<string, unknown[]>;
}

const ENDED = "('completed', 'failed', 'timed_out', 'aborted', 'cancelled')";

/** Kinds of jobs that repeat by themselves, so that some always wait. */
export const REPEATING = `('wake', 'missed_deliveries', 'reconcile', 'retention', 'bodies', 'schedules')`;

/**
 * Only the end state is compared, not the way there: how often something was tried, which waits a run went through and how many
 * edits GitHub reported depend on the moment, and on more than a crash. Sessions are still compared one by one: a session whose
 * process died is continued, not restarted.
 */
const ROWS = {
  deliveries: 'SELECT DISTINCT status FROM deliveries',
  pull_requests: 'SELECT repository, number, paused_by, previous_head_sha FROM pull_requests',
  runs: 'SELECT chain, status, reason_json, paused FROM chain_runs ORDER BY id',
  firings: 'SELECT chain, status, reason, CAST(count AS INTEGER) AS count FROM firings ORDER BY id',
  invocations:
    'SELECT step_id, status, reason_json, attempts, outcome_json FROM invocations ORDER BY run_id, step_index',
  sessions: `SELECT step_id, s.attempt, s.status, s.reason_json, s.choice_json
    FROM sessions s JOIN invocations i ON i.id = invocation_id ORDER BY run_id, step_index, s.id`,
  artifacts: `SELECT step_id, kind, name, file_path IS NULL AS in_row
    FROM artifacts a JOIN invocations i ON i.id = invocation_id ORDER BY i.run_id, step_index, kind, name`,
  approvals: 'SELECT status, decision_json, countersigned_by_json FROM approvals ORDER BY asked_at',
  effects: `SELECT key, status, wished_hash = applied_hash AS applied, github_id IS NULL AND key NOT LIKE 'status:%' AS without_id, error
    FROM effects ORDER BY substr(key, 1, instr(key, ':')), created_at, key`,
  endings: `SELECT chain, to_status, count(*) AS times
    FROM transitions JOIN chain_runs c ON subject_id = c.id
    WHERE to_status IN ${ENDED}
    GROUP BY c.id, to_status ORDER BY c.id, to_status`,
  jobs: `SELECT kind, lease_token FROM jobs WHERE kind NOT IN ${REPEATING} ORDER BY kind`,
  skills: 'SELECT name, description, source FROM skills ORDER BY id',
  skill_artifacts: 'SELECT skill_id, kind, name, ordinal, content FROM skill_artifacts ORDER BY id',
  // The cost of a call that a crash interrupted is unknown: it stays reserved, and the call is repeated.
  model_calls: `SELECT DISTINCT skill, artifact, model, tokens, cost, tokens_in, tokens_out, error
    FROM model_calls WHERE completed_at IS NOT NULL ORDER BY skill, artifact, tokens`,
  skill_calls: 'SELECT question, decision_json, finished_at IS NULL AS is_open FROM skill_calls ORDER BY id',
  // What was executed and not yet recorded when the process died is executed again.
  skill_traces: `SELECT DISTINCT call_id IS NULL AS in_run, skill, artifact, kind, error, tokens_in, tokens_out, model
    FROM skill_execution_traces ORDER BY in_run, skill, artifact, kind, error`,
  // A delivery that arrived stays until the next read of the list, ten minutes later.
  missed_deliveries: 'SELECT guid FROM missed_deliveries WHERE guid NOT IN (SELECT guid FROM deliveries)',
};

/** What PostgreSQL sees to by itself. */
const ROWS_OF_SQLITE = {
  integrity: 'PRAGMA integrity_check',
  broken_references: 'PRAGMA foreign_key_check',
};

/** Where the app keeps what it knows. */
interface Kept {
  folder: string;
  database: StoryDatabase;
}

export async function readEndState(github: GitHubStandIn, kept: Kept, subject: Subject): Promise<EndState> {
  const { number, headSha } = subject;
  const ours = github
    .checkRuns(REPO, headSha ?? '')
    .filter((run) => run.app === github.app.slug && !isGateCheck(run));
  const newest = new Map(ours.map((checkRun) => [checkRun.externalId, checkRun]));
  return {
    subject:
      headSha === undefined
        ? github.issues(REPO).find((issue) => issue.number === number)
        : timelessIn(github.pullRequest(REPO, number)),
    merges: github.merges.map(({ number, method }) => ({ number, method })),
    reviews: headSha === undefined ? [] : github.reviews(REPO, number).map(timelessIn),
    issues: github.issues(REPO),
    comments: github
      .comments(REPO, number)
      // It comes only if the approval comment did not say everything soon enough, which depends on the machine.
      .filter(({ body }) => !body.startsWith('<!-- countersign:status'))
      .map(({ author, body, reactions }) => {
        const shown = reactions.map(({ login, content }) => `${login} ${content}`).sort();
        return `${author}: ${timeless(body)} [${shown.join(', ')}]`;
      })
      .sort(),
    // Those of two runs can be created in either order.
    checkRuns: [...newest.values()]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ id: _id, externalId: _externalId, ...shown }) => timelessIn(shown)),
    ...(await readDatabase(github, kept, ours)),
  };
}

async function readDatabase(
  github: GitHubStandIn,
  { folder, database }: Kept,
  checkRuns: readonly { externalId: string }[],
): Promise<Pick<EndState, 'deliveries' | 'doubledCheckRuns' | 'missingFiles' | 'rows'>> {
  const column = async (sql: string) =>
    (await database.rows(sql)).map((row) => String(Object.values(row)[0]));
  const recorded = await column('SELECT guid FROM deliveries JOIN delivery_bodies ON delivery_id = id');
  const sent = github.deliveries.map(({ guid }) => guid);
  const ends = await column(
    `SELECT subject_id FROM transitions WHERE subject_kind = 'run' AND to_status IN ${ENDED}`,
  );
  const times = (ids: readonly string[], id: string) => ids.filter((other) => other === id).length;
  const shown = checkRuns.map(({ externalId }) => externalId);
  const files = await column('SELECT file_path FROM artifacts WHERE file_path IS NOT NULL');
  const rows: EndState['rows'] = {};
  for (const [table, sql] of Object.entries({
    ...ROWS,
    ...(database.kind === 'sqlite' && ROWS_OF_SQLITE),
  }))
    rows[table] = (await database.rows(sql)).map(timelessIn);
  return {
    doubledCheckRuns: shown.filter((id) => times(shown, id) > times(ends, id)),
    deliveries: {
      lost: sent.filter((guid) => !recorded.includes(guid)),
      invented: recorded.filter((guid) => !sent.includes(guid)),
    },
    missingFiles: files.filter((path) => !existsSync(join(artifactsIn(folder), path))),
    rows,
  };
}

function timelessIn(value: unknown): unknown {
  return JSON.parse(timeless(JSON.stringify(value)));
}

/** The text without what differs between two runs of the same story: ids, commits, addresses, times and durations. */
export function timeless(text: string): string {
  return (
    text
      .replaceAll(/\b(run(?:_of)?|inv|ses|art|eff|apr)_[0-9a-z]{20,}/g, '$1_id')
      .replaceAll(/sha256:[0-9a-f]{64}/g, 'hash')
      // The analyzers' log contains times.
      .replaceAll(/sha256 [0-9a-f]{12}\b/g, 'hash')
      .replaceAll(/\b[0-9a-f]{40}\b/g, 'commit')
      .replaceAll(/\b(?=[0-9a-f]*\d)[0-9a-f]{7}\b/g, 'commit')
      .replaceAll(/\b(?=\d*[a-f])[0-9a-f]{7}\b/g, 'commit')
      .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'http://host')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'moment')
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?/g, 'moment')
      .replaceAll(/\b\d\d:\d\d(:\d\d)?\b/g, 'moment')
      .replaceAll(/(_ms\\?":)[\d.]+/g, '$10')
      .replaceAll(/\b[\d.]+ (ms|s|min)\b/g, 'while')
      // So the log's length varies, too.
      .replaceAll(/\b[\d.]+ (bytes|KB)\b/g, 'size')
      .replaceAll(/("size\\?":)\d+/g, '$10')
      .replaceAll(/\/(runs|check-runs|comments?)\/\d+/g, '/$1/number')
      .replaceAll(/#issuecomment-\d+/g, '#issuecomment-number')
      // The link to a check run is there if the check run existed before the text was made: that depends on the moment.
      .replaceAll(/ · \[details\]\([^)]*\)/g, '')
      .replaceAll(/\b(command:|reply to=)\d+/g, '$1number')
  );
}
