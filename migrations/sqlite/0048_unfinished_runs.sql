-- The few unfinished runs of a repository, beside all those that ended.
CREATE INDEX chain_runs_unfinished ON chain_runs (repository_id, created_at, id)
  WHERE status IN ('running', 'waiting_ci', 'waiting_approval', 'waiting_until');
