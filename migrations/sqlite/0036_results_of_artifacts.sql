-- "Failed reviews of this week", for people who may see some repositories: without opening contents, which may be packed or
-- archived. A "?" is not known: older versions wrote none.
ALTER TABLE artifacts ADD COLUMN result TEXT NOT NULL DEFAULT '?';
DROP INDEX artifacts_by_run;
CREATE INDEX artifacts_by_run ON artifacts (run_id, created_at, kind, result);
-- The kinds and results of the artifacts in it, in lines; NULL in archives of older versions.
ALTER TABLE run_archives ADD COLUMN results TEXT;

-- Pages of runs that somebody may see, from the index alone.
DROP INDEX chain_runs_by_time;
CREATE INDEX chain_runs_by_time ON chain_runs (created_at, id, repository_id);
