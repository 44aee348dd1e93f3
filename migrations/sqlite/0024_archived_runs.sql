-- What belongs to a run that is over, in one compressed text: docs/adr/0039. The rows are back in their tables before anything changes them.
CREATE TABLE run_archives (
  id        INTEGER PRIMARY KEY,
  -- How many effects it contains, and how many artifacts that retention deletes before their run.
  effects   INTEGER NOT NULL CHECK (effects >= 0),
  artifacts INTEGER NOT NULL CHECK (artifacts >= 0),
  content   BLOB NOT NULL
) STRICT;

CREATE INDEX run_archives_with_artifacts ON run_archives (id) WHERE artifacts > 0;

-- Hashes of the keys of effects and of the ids of sessions and artifacts in archives, by which they are found.
CREATE TABLE archived_keys (
  hash       INTEGER NOT NULL,
  archive_id INTEGER NOT NULL,
  PRIMARY KEY (hash, archive_id)
) STRICT, WITHOUT ROWID;

-- No foreign key: SQLite would read all runs when an archive is deleted.
ALTER TABLE chain_runs ADD COLUMN archive_id INTEGER;
CREATE INDEX chain_runs_by_archive ON chain_runs (archive_id) WHERE archive_id IS NOT NULL;
CREATE INDEX chain_runs_to_archive ON chain_runs (finished_at, id) WHERE archive_id IS NULL AND finished_at IS NOT NULL;

-- Archived effects are done, and are counted as before.
CREATE TRIGGER run_archives_counted_in AFTER INSERT ON run_archives BEGIN
  INSERT INTO status_counts VALUES ('effect', 'done', NEW.effects) ON CONFLICT DO UPDATE SET count = count + NEW.effects;
END;
CREATE TRIGGER run_archives_counted_out AFTER DELETE ON run_archives BEGIN
  UPDATE status_counts SET count = count - OLD.effects WHERE subject = 'effect' AND status = 'done';
END;
