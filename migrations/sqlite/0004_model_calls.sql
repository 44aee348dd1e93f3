-- Each call to a language model. A row is written before the call, with the most that it could take, and says after it what it
-- did take: calls that run at the same time cannot overspend a budget together, and one that a crash cut off stays counted.
-- Whom it counts against is kept beside the references, as a removed run gives nobody his budget back.
CREATE TABLE model_calls (
  id            INTEGER PRIMARY KEY,
  run_id        TEXT REFERENCES chain_runs (id) ON DELETE SET NULL,
  session_id    TEXT REFERENCES sessions (id) ON DELETE SET NULL,
  repository_id INTEGER,
  pull_request  INTEGER,
  skill         TEXT,
  artifact      TEXT,
  model         TEXT NOT NULL,
  -- What counts against the budgets; costs are in millionths of a dollar, and NULL where no price is known.
  tokens        INTEGER NOT NULL CHECK (tokens >= 0),
  cost          INTEGER CHECK (cost >= 0),
  -- What the provider said; NULL until then, and when it did not say.
  tokens_in     INTEGER CHECK (tokens_in >= 0),
  tokens_out    INTEGER CHECK (tokens_out >= 0),
  started_at    TEXT NOT NULL,
  completed_at  TEXT,
  error         TEXT
) STRICT;
-- The sums for the budgets are read from these indexes alone.
CREATE INDEX model_calls_by_run ON model_calls (run_id, tokens, cost);
CREATE INDEX model_calls_by_pull_request ON model_calls (repository_id, pull_request, tokens, cost);
CREATE INDEX model_calls_by_time ON model_calls (started_at, tokens, cost);
CREATE INDEX model_calls_by_session ON model_calls (session_id);
