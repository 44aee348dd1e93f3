-- Dry runs that people asked for in Studio. Several processes can have Studio, and one of them plays a dry run. A row goes within an hour
-- or two.
CREATE TABLE dry_runs (
  id            TEXT COLLATE "C" PRIMARY KEY,
  -- Who asked, on GitHub. Nobody else sees it.
  person_id     BIGINT NOT NULL,
  repository_id BIGINT NOT NULL,
  repository    TEXT COLLATE "C" NOT NULL,
  pull_request  BIGINT,
  chain         TEXT COLLATE "C" NOT NULL,
  is_pasted     BIGINT NOT NULL CHECK (is_pasted IN (0, 1)),
  begun_at      TEXT COLLATE "C" NOT NULL,
  -- So far, while it is under way.
  steps_json    TEXT COLLATE "C" NOT NULL,
  -- How often it has changed.
  changes       BIGINT NOT NULL,
  -- Whether somebody wants it to stop.
  stops         BIGINT NOT NULL CHECK (stops IN (0, 1)),
  -- Both are NULL until it has ended.
  end_json      TEXT COLLATE "C",
  ended_at      TEXT COLLATE "C",
  CHECK ((end_json IS NULL) = (ended_at IS NULL))
);

CREATE INDEX dry_runs_by_time ON dry_runs (begun_at);
