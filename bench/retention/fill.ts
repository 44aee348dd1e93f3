import BetterSqlite3 from 'better-sqlite3';

const DAY_MS = 86_400_000;

export interface Fill {
  path: string;
  runs: number;
  /** The days before `now` over which they are spread. */
  days: number;
  now: Date;
  /** The size of a run's texts; 1 is about that of the shipped chain. */
  share: number;
}

/**
 * Fills a migrated database with finished runs: each with a merged pull request of its own, four steps,
 * sessions, artifacts, history, effects and deliveries. Uses SQL without the app, and builds the indexes at
 * the end: maintaining them row by row takes hours for a million runs.
 */
export function fill({ path, runs, days, now, share }: Fill): void {
  const db = new BetterSqlite3(path);
  db.pragma('synchronous = OFF');
  db.pragma('foreign_keys = OFF');
  db.pragma('cache_size = -524288');
  const indexes = db
    .prepare<[], { name: string; sql: string }>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
    )
    .all();
  for (const { name } of indexes) db.exec(`DROP INDEX ${name}`);

  const first = now.getTime() - days * DAY_MS;
  const json = (bytes: number) => `'${JSON.stringify({ text: 'x'.repeat(Math.round(bytes * share)) })}'`;
  const body = Math.round(1_024 * share);
  // `n` from 0, its zero-padded name, and its time.
  const FROM_RUNS = `FROM (SELECT value AS n, printf('%09d', value) AS name,
      strftime('%Y-%m-%dT%H:%M:%fZ', (${first} + ${(days * DAY_MS) / runs} * value) / 1000.0, 'unixepoch') AS at
    FROM numbers)`;
  const TIME = `'{"kind":"time"}'`;
  const SHA = "printf('%040d', n)";
  db.exec('CREATE TEMP TABLE numbers (value INTEGER PRIMARY KEY)');
  const CHUNK = 20_000;
  for (let from = 0; from < runs; from += CHUNK) {
    db.exec(`
      BEGIN;
      DELETE FROM numbers;
      INSERT INTO numbers WITH RECURSIVE some (value) AS (
        SELECT ${from} UNION ALL SELECT value + 1 FROM some WHERE value + 1 < ${Math.min(runs, from + CHUNK)}
      ) SELECT value FROM some;
      INSERT INTO deliveries (id, guid, event, action, installation_id, received_at, status, attempts, finished_at)
        SELECT n * 4 + d.value + 1, 'guid-' || name || '-' || d.value, 'pull_request', 'opened', 7, at, 'done', 1, at
        ${FROM_RUNS}, json_each('[0,1,2,3]') AS d;
      INSERT INTO body_packs (id, encoding, bytes) SELECT n + 1, 'none', zeroblob(${4 * body}) ${FROM_RUNS};
      INSERT INTO delivery_bodies (delivery_id, pack_id, start, length)
        SELECT n * 4 + d.value + 1, n + 1, d.value * ${body}, ${body} ${FROM_RUNS}, json_each('[0,1,2,3]') AS d;
      INSERT INTO pull_requests (repository_id, number, repository, installation_id, updated_at, state, state_at)
        SELECT 70, n + 1, 'acme/rocket', 7, at, 'merged', at ${FROM_RUNS};
      INSERT INTO chain_runs (id, installation_id, repository_id, repository, pull_request, head_sha, base_ref, base_sha, chain,
          definition_json, settings_json, facts_json, event_json, delivery_id, status, paused, created_at, updated_at, finished_at)
        SELECT 'run_' || name, 7, 70, 'acme/rocket', n + 1, ${SHA}, 'main', ${SHA}, 'pr-review', ${json(2_000)}, ${json(1_500)},
          '{"trigger":{}}', '{"kind":"pr.opened"}', n * 4 + 1, 'completed', 0, at, at, at ${FROM_RUNS};
      INSERT INTO invocations (id, run_id, step_index, step_id, status, attempts, session_id, outcome_json, outcome_artifact_id, finished_at)
        SELECT 'inv_' || name || s.value, 'run_' || name, s.value, 'step' || s.value, 'completed', 1, 'ses_' || name || s.value,
          ${json(800)}, 'art_' || name || s.value, at ${FROM_RUNS}, json_each('[0,1,2,3]') AS s;
      INSERT INTO sessions (id, invocation_id, attempt, status, started_at)
        SELECT 'ses_' || name || s.value, 'inv_' || name || s.value, 1, 'completed', at ${FROM_RUNS}, json_each('[0,1,2,3]') AS s;
      INSERT INTO artifacts (id, run_id, invocation_id, session_id, created_at, kind, name, content, file_path)
        SELECT 'art_' || name || s.value, 'run_' || name, 'inv_' || name || min(s.value, 3), 'ses_' || name || min(s.value, 3), at,
          'log', 'a', iif(s.value < 4, ${json(800)}, NULL), iif(s.value < 4, NULL, 'run_' || name || '/a.log')
        ${FROM_RUNS}, json_each('[0,1,2,3,4]') AS s;
      INSERT INTO transitions (subject_kind, subject_id, from_status, to_status, at, actor_json)
        SELECT t.value ->> 0, (t.value ->> 1) || name || (t.value ->> 2), 'running', 'completed', at, ${TIME}
        ${FROM_RUNS}, json_each('${JSON.stringify(transitionsOfRun())}') AS t;
      INSERT INTO approvals (id, run_id, invocation_id, head_sha, base_ref, status, asked_at, countersigned_by_json)
        SELECT 'apr_' || name, 'run_' || name, 'inv_' || name || '2', ${SHA}, 'main', 'countersigned', at, '["mia"]' ${FROM_RUNS};
      INSERT INTO effects (id, key, effect_json, wished_hash, status, begun, progress_json, attempts, run_id, created_at, updated_at)
        SELECT 'eff_' || name || e.key, replace(replace(e.value, 'NAME', name), 'NUMBER', n + 1), ${json(1_000)}, 'h', 'done', 1, '{}', 1,
          iif(e.key < 4, 'run_' || name, NULL), at, at
        ${FROM_RUNS}, json_each('["check_run:run_NAME","approval:apr_NAME","merge:run_NAME:a","status:70#NUMBER","command:NAME:answer"]') AS e;
      COMMIT;`);
  }
  for (const { sql } of indexes) db.exec(sql);
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
}

/**
 * Two transitions of the run and of each of its four steps, and one of each session: the kind, and the id
 * around the run's name.
 */
function transitionsOfRun(): [kind: string, before: string, after: string][] {
  const steps = ['0', '1', '2', '3'];
  return [
    ['run', 'run_', ''],
    ['run', 'run_', ''],
    ...steps.flatMap((step): [string, string, string][] => [
      ['invocation', 'inv_', step],
      ['invocation', 'inv_', step],
      ['session', 'ses_', step],
    ]),
  ];
}
