-- The few unfinished runs of a repository, beside all those that ended.
CREATE INDEX chain_runs_unfinished ON chain_runs (repository_id, created_at, id)
  WHERE status IN ('running', 'waiting_ci', 'waiting_approval', 'waiting_until');

-- Which installation writes an effect, and when GitHub last created content for it: the process that gets the installation next counts it
-- for GitHub's limit of an hour. Rows from before have neither, so they do not count within the first hour.
ALTER TABLE effects ADD COLUMN installation_id BIGINT;
ALTER TABLE effects ADD COLUMN content_at TEXT;
CREATE INDEX effects_with_content ON effects (installation_id, content_at) WHERE content_at IS NOT NULL;
