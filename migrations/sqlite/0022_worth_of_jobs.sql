-- Which jobs go first when more are due than there are places: 0 first, 3 are reviews, which have places of their own.
ALTER TABLE jobs ADD COLUMN worth INTEGER NOT NULL DEFAULT 1;
UPDATE jobs SET worth = 3 WHERE kind = 'review';
CREATE INDEX jobs_by_worth ON jobs (worth, run_at, id) WHERE lease_token IS NULL;
