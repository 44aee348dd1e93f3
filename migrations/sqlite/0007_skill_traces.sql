-- Which skill a session with `skill: auto` chose, and why: chosen once, so that a restart goes on with the same one.
ALTER TABLE sessions ADD COLUMN choice_json TEXT CHECK (json_valid(choice_json));

-- Skills that were called by a question in a comment. Such a call belongs to no run, and has no step; what was decided is kept,
-- so that a question is not asked of a model twice.
CREATE TABLE skill_calls (
  id              TEXT PRIMARY KEY,
  installation_id INTEGER NOT NULL,
  repository_id   INTEGER NOT NULL,
  repository      TEXT NOT NULL,
  pull_request    INTEGER NOT NULL,
  comment_id      INTEGER NOT NULL UNIQUE,
  asked_by        TEXT NOT NULL,
  question        TEXT NOT NULL,
  decision_json   TEXT CHECK (json_valid(decision_json)),
  created_at      TEXT NOT NULL,
  finished_at     TEXT
) STRICT;

-- Each execution of an artifact of a skill: what it was given, what it gave back, what it took. Texts are blobs, named by their
-- hash below the run or the call.
CREATE TABLE skill_execution_traces (
  id                INTEGER PRIMARY KEY,
  run_id            TEXT REFERENCES chain_runs (id) ON DELETE CASCADE,
  session_id        TEXT REFERENCES sessions (id) ON DELETE CASCADE,
  call_id           TEXT REFERENCES skill_calls (id) ON DELETE CASCADE,
  skill             TEXT NOT NULL,
  -- Of the package's content. Not a reference: what was executed stays true when the package is gone.
  skill_id          TEXT NOT NULL,
  artifact          TEXT NOT NULL,
  kind              TEXT NOT NULL CHECK (kind IN ('description', 'prompt_template', 'code_template', 'dspy_module', 'analyzer', 'agent')),
  input_path        TEXT NOT NULL,
  output_path       TEXT,
  error             TEXT,
  started_at        TEXT NOT NULL,
  completed_at      TEXT NOT NULL,
  duration_ms       INTEGER NOT NULL CHECK (duration_ms >= 0),
  -- NULL where a provider did not tell; 0 where no model was asked.
  tokens_in         INTEGER CHECK (tokens_in >= 0),
  tokens_out        INTEGER CHECK (tokens_out >= 0),
  model             TEXT,
  cost              INTEGER CHECK (cost >= 0),
  assertions_run    INTEGER NOT NULL CHECK (assertions_run >= 0),
  assertions_passed INTEGER NOT NULL CHECK (assertions_passed BETWEEN 0 AND assertions_run),
  CHECK ((run_id IS NULL) = (session_id IS NULL) AND (run_id IS NULL) <> (call_id IS NULL))
) STRICT;
CREATE INDEX skill_execution_traces_by_skill ON skill_execution_traces (skill);
CREATE INDEX skill_execution_traces_by_run ON skill_execution_traces (run_id);
CREATE INDEX skill_execution_traces_by_session ON skill_execution_traces (session_id);
CREATE INDEX skill_execution_traces_by_call ON skill_execution_traces (call_id);
