-- Effects can be withheld by the rollout: docs/adr/0060. SQLite changes no check of a table that exists.
CREATE TABLE new_effects (
  id            TEXT PRIMARY KEY,
  key           TEXT NOT NULL UNIQUE,
  effect_json   TEXT NOT NULL CHECK (json_valid(effect_json)),
  wished_hash   TEXT NOT NULL,
  applied_hash  TEXT,
  status        TEXT NOT NULL CHECK (status IN ('pending', 'done', 'failed', 'withheld')),
  github_id     INTEGER,
  begun         INTEGER NOT NULL CHECK (begun IN (0, 1)),
  progress_json TEXT NOT NULL CHECK (json_valid(progress_json)),
  attempts      INTEGER NOT NULL CHECK (attempts >= 0),
  error         TEXT,
  run_id        TEXT REFERENCES chain_runs (id) ON DELETE SET NULL,
  created_at    TEXT NOT NULL,
  updated_at    TEXT NOT NULL
) STRICT;
INSERT INTO new_effects SELECT * FROM effects ORDER BY rowid;
-- Without its triggers, so that the counts of statuses stay.
DROP TRIGGER effects_counted_out;
DROP TABLE effects;
ALTER TABLE new_effects RENAME TO effects;
CREATE INDEX effects_by_run ON effects (run_id, created_at);
CREATE INDEX effects_by_status ON effects (status, updated_at);
CREATE INDEX effects_by_time ON effects (updated_at);
CREATE INDEX effects_without_run ON effects (updated_at, id) WHERE run_id IS NULL;

CREATE TRIGGER effects_counted_in AFTER INSERT ON effects BEGIN
  INSERT INTO status_counts VALUES ('effect', NEW.status, 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER effects_counted_over AFTER UPDATE OF status ON effects WHEN OLD.status <> NEW.status BEGIN
  UPDATE status_counts SET count = count - 1 WHERE subject = 'effect' AND status = OLD.status;
  INSERT INTO status_counts VALUES ('effect', NEW.status, 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER effects_counted_out AFTER DELETE ON effects BEGIN
  UPDATE status_counts SET count = count - 1 WHERE subject = 'effect' AND status = OLD.status;
END;
