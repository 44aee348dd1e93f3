-- What speaks for a pull request or a head, and which answers people gave about it, are read from these indexes, however many runs
-- there were.
DROP INDEX chain_runs_by_pull_request;
CREATE INDEX chain_runs_by_pull_request ON chain_runs (repository_id, pull_request, created_at, id, chain, status);
DROP INDEX chain_runs_by_head_sha;
CREATE INDEX chain_runs_by_head_sha ON chain_runs (head_sha, repository_id, created_at, id, pull_request, chain, status);
CREATE INDEX approvals_by_head ON approvals (head_sha, base_ref, status);
