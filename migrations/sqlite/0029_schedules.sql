-- When each chain with a schedule fires next. A row follows the chain file of the default branch; see docs/adr/0047.
CREATE TABLE schedules (
  repository_id   INTEGER NOT NULL,
  chain           TEXT NOT NULL,
  trigger         TEXT NOT NULL,
  installation_id INTEGER NOT NULL,
  repository      TEXT NOT NULL,
  schedule_json   TEXT NOT NULL,
  next_at         TEXT NOT NULL,
  PRIMARY KEY (repository_id, chain, trigger)
) STRICT, WITHOUT ROWID;

CREATE INDEX schedules_due ON schedules (next_at);

-- What became of each firing by the clock. The unique occasion makes two processes fire it once.
CREATE TABLE firings (
  id              TEXT PRIMARY KEY,
  repository_id   INTEGER NOT NULL,
  chain           TEXT NOT NULL,
  trigger         TEXT NOT NULL,
  occasion        TEXT NOT NULL,
  installation_id INTEGER NOT NULL,
  repository      TEXT NOT NULL,
  status          TEXT NOT NULL CHECK (status IN ('due', 'queued', 'fired', 'skipped')),
  -- Why it did not happen: a word for metrics and a sentence for people.
  reason          TEXT,
  summary         TEXT,
  -- How many firings the row stands for.
  count           INTEGER NOT NULL DEFAULT 1,
  run_id          TEXT NOT NULL,
  due_at          TEXT NOT NULL,
  updated_at      TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX firings_once ON firings (repository_id, chain, trigger, occasion);
CREATE INDEX firings_queued ON firings (repository_id, chain, due_at) WHERE status = 'queued';
CREATE INDEX firings_by_time ON firings (updated_at);

-- How many firings have each status and reason, kept by triggers as status_counts is, so that a scrape of the metrics reads a few rows.
CREATE TABLE firing_counts (
  status TEXT NOT NULL,
  -- Empty if there is none.
  reason TEXT NOT NULL,
  count  INTEGER NOT NULL,
  PRIMARY KEY (status, reason)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER firing_inserted AFTER INSERT ON firings BEGIN
  INSERT INTO firing_counts VALUES (NEW.status, ifnull(NEW.reason, ''), NEW.count) ON CONFLICT DO UPDATE SET count = count + NEW.count;
END;
CREATE TRIGGER firing_updated AFTER UPDATE OF status, reason, count ON firings BEGIN
  UPDATE firing_counts SET count = count - OLD.count WHERE status = OLD.status AND reason = ifnull(OLD.reason, '');
  INSERT INTO firing_counts VALUES (NEW.status, ifnull(NEW.reason, ''), NEW.count) ON CONFLICT DO UPDATE SET count = count + NEW.count;
END;
CREATE TRIGGER firing_deleted AFTER DELETE ON firings BEGIN
  UPDATE firing_counts SET count = count - OLD.count WHERE status = OLD.status AND reason = ifnull(OLD.reason, '');
END;
