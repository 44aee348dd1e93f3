-- Whether the large texts of an ended run are packed: docs/adr/0037. A run that continues is packed again when it ends.
ALTER TABLE chain_runs ADD COLUMN packed INTEGER NOT NULL DEFAULT 0 CHECK (packed IN (0, 1));
CREATE INDEX chain_runs_to_pack ON chain_runs (finished_at) WHERE packed = 0 AND finished_at IS NOT NULL;
