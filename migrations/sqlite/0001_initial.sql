-- Times are ISO-8601 text in UTC with milliseconds: they sort as text, read well in the sqlite3 shell, and are the
-- same in every database. Columns named *_json hold JSON text; flags are 0 or 1.

CREATE TABLE deliveries (
  id              INTEGER PRIMARY KEY,
  guid            TEXT NOT NULL UNIQUE,
  event           TEXT NOT NULL,
  action          TEXT,
  installation_id INTEGER,
  received_at     TEXT NOT NULL,
  status          TEXT NOT NULL CHECK (status IN ('received', 'processing', 'done', 'failed')),
  attempts        INTEGER NOT NULL CHECK (attempts >= 0),
  error           TEXT,
  finished_at     TEXT
) STRICT;
CREATE INDEX deliveries_by_status ON deliveries (status, id);

-- Bodies lie beside their deliveries: a change of status would otherwise write the whole body again
-- (measured with 24 KB bodies: 11,000 changes a second in one table, more than 100,000 in two).
CREATE TABLE delivery_bodies (
  delivery_id INTEGER PRIMARY KEY REFERENCES deliveries (id) ON DELETE CASCADE,
  body        BLOB NOT NULL
) STRICT;

CREATE TABLE pull_requests (
  repository_id   INTEGER NOT NULL,
  number          INTEGER NOT NULL,
  repository      TEXT NOT NULL,
  installation_id INTEGER NOT NULL,
  paused_by       TEXT,
  head_sha          TEXT,
  previous_head_sha TEXT,
  head_seen_at      TEXT,
  updated_at      TEXT NOT NULL,
  PRIMARY KEY (repository_id, number)
) STRICT;

CREATE TABLE chain_runs (
  id              TEXT PRIMARY KEY,
  installation_id INTEGER NOT NULL,
  repository_id   INTEGER NOT NULL,
  repository      TEXT NOT NULL,
  pull_request    INTEGER,
  head_sha        TEXT NOT NULL,
  base_ref        TEXT NOT NULL,
  base_sha        TEXT NOT NULL,
  chain           TEXT NOT NULL,
  definition_json TEXT NOT NULL CHECK (json_valid(definition_json)),
  settings_json   TEXT NOT NULL CHECK (json_valid(settings_json)),
  facts_json      TEXT NOT NULL CHECK (json_valid(facts_json)),
  event_json      TEXT NOT NULL CHECK (json_valid(event_json)),
  delivery_id     INTEGER REFERENCES deliveries (id) ON DELETE SET NULL,
  status          TEXT NOT NULL CHECK (status IN (
                    'running', 'waiting_ci', 'waiting_approval', 'waiting_until',
                    'completed', 'failed', 'timed_out', 'aborted', 'cancelled')),
  reason_json     TEXT CHECK (json_valid(reason_json)),
  paused          INTEGER NOT NULL CHECK (paused IN (0, 1)),
  created_at      TEXT NOT NULL,
  updated_at      TEXT NOT NULL,
  finished_at     TEXT
) STRICT;
CREATE INDEX chain_runs_by_pull_request ON chain_runs (repository_id, pull_request, created_at);
CREATE INDEX chain_runs_by_repository_name ON chain_runs (repository, pull_request, created_at);
CREATE INDEX chain_runs_by_head_sha ON chain_runs (head_sha);
CREATE INDEX chain_runs_by_chain ON chain_runs (chain, created_at);
CREATE INDEX chain_runs_by_status ON chain_runs (status, created_at);
CREATE INDEX chain_runs_by_time ON chain_runs (created_at);
CREATE INDEX chain_runs_by_delivery ON chain_runs (delivery_id);

-- An invocation points at its current session and at its outcome, and these point back: such references are
-- checked when the transaction commits, so that the rows may be written in any order.
CREATE TABLE invocations (
  id                  TEXT PRIMARY KEY,
  run_id              TEXT NOT NULL REFERENCES chain_runs (id) ON DELETE CASCADE,
  step_index          INTEGER NOT NULL CHECK (step_index >= 0),
  step_id             TEXT NOT NULL,
  status              TEXT NOT NULL CHECK (status IN (
                        'pending', 'running', 'waiting_ci', 'waiting_approval', 'waiting_until',
                        'completed', 'skipped', 'failed', 'timed_out', 'cancelled')),
  reason_json         TEXT CHECK (json_valid(reason_json)),
  attempts            INTEGER NOT NULL CHECK (attempts >= 0),
  session_id          TEXT REFERENCES sessions (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
  wait_until          TEXT,
  deadline_at         TEXT,
  outcome_json        TEXT CHECK (json_valid(outcome_json)),
  outcome_artifact_id TEXT REFERENCES artifacts (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
  started_at          TEXT,
  finished_at         TEXT,
  UNIQUE (run_id, step_index)
) STRICT;
CREATE INDEX invocations_by_session ON invocations (session_id);
CREATE INDEX invocations_by_outcome ON invocations (outcome_artifact_id);

CREATE TABLE sessions (
  id                         TEXT PRIMARY KEY,
  invocation_id              TEXT NOT NULL REFERENCES invocations (id) ON DELETE CASCADE,
  attempt                    INTEGER NOT NULL CHECK (attempt >= 0),
  status                     TEXT NOT NULL CHECK (status IN (
                               'running', 'waiting', 'completed', 'failed', 'timed_out', 'cancelled')),
  reason_json                TEXT CHECK (json_valid(reason_json)),
  started_at                 TEXT NOT NULL,
  finished_at                TEXT,
  artifact_contract_json     TEXT CHECK (json_valid(artifact_contract_json)),
  artifact_verification_json TEXT CHECK (json_valid(artifact_verification_json))
) STRICT;
CREATE INDEX sessions_by_invocation ON sessions (invocation_id);

CREATE TABLE artifacts (
  id            TEXT PRIMARY KEY,
  run_id        TEXT NOT NULL REFERENCES chain_runs (id) ON DELETE CASCADE,
  invocation_id TEXT NOT NULL REFERENCES invocations (id) ON DELETE CASCADE,
  session_id    TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  created_at    TEXT NOT NULL,
  kind          TEXT NOT NULL,
  name          TEXT NOT NULL,
  content       TEXT CHECK (json_valid(content)),
  file_path     TEXT,
  CHECK ((content IS NULL) <> (file_path IS NULL))
) STRICT;
CREATE INDEX artifacts_by_run ON artifacts (run_id, created_at);
CREATE INDEX artifacts_by_invocation ON artifacts (invocation_id);
CREATE INDEX artifacts_by_session ON artifacts (session_id);

CREATE TABLE approvals (
  id                  TEXT PRIMARY KEY,
  run_id              TEXT NOT NULL REFERENCES chain_runs (id) ON DELETE CASCADE,
  invocation_id       TEXT NOT NULL REFERENCES invocations (id) ON DELETE CASCADE,
  head_sha            TEXT NOT NULL,
  base_ref            TEXT NOT NULL,
  status              TEXT NOT NULL CHECK (status IN ('open', 'countersigned', 'rejected', 'void')),
  asked_at            TEXT NOT NULL,
  looked_at           TEXT,
  decision_json       TEXT CHECK (json_valid(decision_json)),
  countersigned_by_json TEXT NOT NULL CHECK (json_valid(countersigned_by_json))
) STRICT;
CREATE INDEX approvals_by_invocation ON approvals (invocation_id, asked_at);
CREATE INDEX approvals_by_run ON approvals (run_id, asked_at);

CREATE TABLE effects (
  id            TEXT PRIMARY KEY,
  key           TEXT NOT NULL UNIQUE,
  effect_json   TEXT NOT NULL CHECK (json_valid(effect_json)),
  wished_hash   TEXT NOT NULL,
  applied_hash  TEXT,
  status        TEXT NOT NULL CHECK (status IN ('pending', 'done', 'failed')),
  github_id     INTEGER,
  begun         INTEGER NOT NULL CHECK (begun IN (0, 1)),
  progress_json TEXT NOT NULL CHECK (json_valid(progress_json)),
  attempts      INTEGER NOT NULL CHECK (attempts >= 0),
  error         TEXT,
  run_id        TEXT REFERENCES chain_runs (id) ON DELETE SET NULL,
  created_at    TEXT NOT NULL,
  updated_at    TEXT NOT NULL
) STRICT;
CREATE INDEX effects_by_run ON effects (run_id, created_at);
CREATE INDEX effects_by_status ON effects (status, updated_at);
CREATE INDEX effects_by_time ON effects (updated_at);

CREATE TABLE jobs (
  id          INTEGER PRIMARY KEY,
  kind        TEXT NOT NULL,
  key         TEXT NOT NULL,
  payload     TEXT NOT NULL CHECK (json_valid(payload)),
  run_at      TEXT NOT NULL,
  attempts    INTEGER NOT NULL CHECK (attempts >= 0),
  lease_token TEXT,
  lease_until TEXT,
  CHECK ((lease_token IS NULL) = (lease_until IS NULL))
) STRICT;
CREATE INDEX jobs_waiting ON jobs (run_at, id) WHERE lease_token IS NULL;
CREATE INDEX jobs_by_key ON jobs (key, run_at, id);
CREATE INDEX jobs_by_lease ON jobs (lease_token) WHERE lease_token IS NOT NULL;
CREATE INDEX jobs_by_lease_end ON jobs (lease_until) WHERE lease_until IS NOT NULL;

-- What became of a run, an invocation or a session, step by step.
CREATE TABLE transitions (
  id           INTEGER PRIMARY KEY,
  subject_kind TEXT NOT NULL CHECK (subject_kind IN ('run', 'invocation', 'session')),
  subject_id   TEXT NOT NULL,
  from_status  TEXT NOT NULL,
  to_status    TEXT NOT NULL,
  reason_code  TEXT,
  at           TEXT NOT NULL
) STRICT;
CREATE INDEX transitions_by_subject ON transitions (subject_id, id);
