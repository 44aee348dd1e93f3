-- Dry runs that people asked for in Studio. Several processes can have Studio, and one of them plays a dry run. A row goes within an hour
-- or two.
CREATE TABLE dry_runs (
  id            TEXT PRIMARY KEY,
  -- Who asked, on GitHub. Nobody else sees it.
  person_id     INTEGER NOT NULL,
  repository_id INTEGER NOT NULL,
  repository    TEXT NOT NULL,
  pull_request  INTEGER,
  chain         TEXT NOT NULL,
  is_pasted     INTEGER NOT NULL CHECK (is_pasted IN (0, 1)),
  begun_at      TEXT NOT NULL,
  -- So far, while it is under way.
  steps_json    TEXT NOT NULL,
  -- How often it has changed.
  changes       INTEGER NOT NULL,
  -- Whether somebody wants it to stop.
  stops         INTEGER NOT NULL CHECK (stops IN (0, 1)),
  -- Both are NULL until it has ended.
  end_json      TEXT,
  ended_at      TEXT,
  CHECK ((end_json IS NULL) = (ended_at IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX dry_runs_by_time ON dry_runs (begun_at);
