-- The pull request that a firing was about, so that `why` finds those that did not happen. Rows of older versions have none.
ALTER TABLE firings ADD COLUMN pull_request INTEGER;
CREATE INDEX firings_of_pull_request ON firings (repository_id, pull_request, due_at) WHERE pull_request IS NOT NULL;
-- What waits for a pull request.
CREATE INDEX composites_by_key ON composites (repository_id, key);
