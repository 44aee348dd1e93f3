-- How long merged pull requests were open, by the day of the merge: what the insight and the report show, without reading every pull request
-- of the period. The triggers count a merge once; it stays counted when retention deletes its pull request. A later migration that builds
-- `pull_requests` anew makes them again.
CREATE TABLE lead_figures (
  day           TEXT NOT NULL,
  repository_id INTEGER NOT NULL,
  -- Of the seconds from opened to merged: their logarithm to the base 1.1, rounded up, as in `daily_figures`
  -- (https://sqlite.org/lang_mathfunc.html).
  bucket        INTEGER NOT NULL,
  count         INTEGER NOT NULL CHECK (count > 0),
  PRIMARY KEY (day, repository_id, bucket)
) STRICT, WITHOUT ROWID;

INSERT INTO lead_figures
  SELECT substr(state_at, 1, 10), repository_id,
      CAST(ceil(log(max(1, unixepoch(state_at) - unixepoch(seen_at))) / log(1.1)) AS INTEGER), count(*)
    FROM pull_requests WHERE state = 'merged' AND seen_at IS NOT NULL GROUP BY 1, 2, 3;

CREATE TRIGGER lead_figures_in AFTER INSERT ON pull_requests WHEN NEW.state = 'merged' AND NEW.seen_at IS NOT NULL BEGIN
  INSERT INTO lead_figures VALUES (substr(NEW.state_at, 1, 10), NEW.repository_id,
      CAST(ceil(log(max(1, unixepoch(NEW.state_at) - unixepoch(NEW.seen_at))) / log(1.1)) AS INTEGER), 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER lead_figures_over AFTER UPDATE OF state, seen_at ON pull_requests
  WHEN NEW.state = 'merged' AND NEW.seen_at IS NOT NULL AND (OLD.state IS NOT 'merged' OR OLD.seen_at IS NULL) BEGIN
  INSERT INTO lead_figures VALUES (substr(NEW.state_at, 1, 10), NEW.repository_id,
      CAST(ceil(log(max(1, unixepoch(NEW.state_at) - unixepoch(NEW.seen_at))) / log(1.1)) AS INTEGER), 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;
DROP INDEX pull_requests_lead;

-- The newest runs of a repository, without sorting all of them.
CREATE INDEX chain_runs_of_repository ON chain_runs (repository, created_at, id);
