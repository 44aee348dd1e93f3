ALTER TABLE jobs ADD COLUMN installation_id BIGINT;
CREATE INDEX jobs_by_installation ON jobs (COALESCE(installation_id, 0));
