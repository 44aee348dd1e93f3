-- What the last look at an open question saw on GitHub: the poller compares it with GitHub's state, also after a restart.
ALTER TABLE approvals ADD COLUMN watch_json TEXT;
CREATE INDEX approvals_open ON approvals (run_id) WHERE status = 'open' AND watch_json IS NOT NULL;
