-- What lists of pull requests show and search: as GitHub last said it, and since when this app knows it. NULL in rows from before that is kept.
ALTER TABLE pull_requests ADD COLUMN title TEXT;
ALTER TABLE pull_requests ADD COLUMN author_id INTEGER;
ALTER TABLE pull_requests ADD COLUMN author_login TEXT;
ALTER TABLE pull_requests ADD COLUMN seen_at TEXT;
UPDATE pull_requests SET seen_at = (
  SELECT min(created_at) FROM chain_runs
    WHERE chain_runs.repository_id = pull_requests.repository_id AND chain_runs.pull_request = pull_requests.number);

-- What stopped is found by the pull requests that are open, of which there are few.
CREATE INDEX pull_requests_open ON pull_requests (repository_id, number) WHERE state IS NULL OR state = 'open';
-- Time from first seen to merged, without reading the rows themselves.
CREATE INDEX pull_requests_lead ON pull_requests (state_at, repository_id, seen_at) WHERE state = 'merged' AND seen_at IS NOT NULL;
-- An address on GitHub, whichever case it is typed in.
CREATE INDEX pull_requests_by_name ON pull_requests (repository COLLATE NOCASE, number);
CREATE INDEX approvals_asked ON approvals (run_id) WHERE status = 'open';

-- Names that repositories had before. A new repository can take such a name, so the current names come first.
CREATE TABLE former_names (
  repository    TEXT PRIMARY KEY COLLATE NOCASE,
  repository_id INTEGER NOT NULL,
  renamed_at    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Figures by day, from the transactions that end runs and record answers. They outlive the rows that they count, which are packed and
-- archived. `bucket` is the power of 1.1 that a number of seconds reached, so that medians of any period are within 5 %.
CREATE TABLE daily_figures (
  day           TEXT NOT NULL,
  repository_id INTEGER NOT NULL,
  what          TEXT NOT NULL CHECK (what IN ('waited', 'countersigned', 'rejected', 'fixed', 'dismissed')),
  name          TEXT NOT NULL,
  bucket        INTEGER NOT NULL,
  count         INTEGER NOT NULL,
  total         INTEGER NOT NULL,
  PRIMARY KEY (day, repository_id, what, name, bucket)
) STRICT, WITHOUT ROWID;
