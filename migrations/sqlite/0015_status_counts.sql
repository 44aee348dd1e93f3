-- How many deliveries, runs and effects have each status, kept by the transactions that change them, so that a scrape of the metrics
-- reads a few rows however many there are: docs/adr/0024. Nothing checks that a count is not negative: a wrong metric must
-- not keep a delivery from being recorded.
CREATE TABLE status_counts (
  subject TEXT NOT NULL CHECK (subject IN ('delivery', 'run', 'effect')),
  status  TEXT NOT NULL,
  count   INTEGER NOT NULL,
  PRIMARY KEY (subject, status)
) STRICT, WITHOUT ROWID;
INSERT INTO status_counts (subject, status, count) SELECT 'delivery', status, count(*) FROM deliveries GROUP BY status;
INSERT INTO status_counts (subject, status, count) SELECT 'run', status, count(*) FROM chain_runs GROUP BY status;
INSERT INTO status_counts (subject, status, count) SELECT 'effect', status, count(*) FROM effects GROUP BY status;

-- A later migration that builds one of these tables anew makes its triggers again.
CREATE TRIGGER deliveries_counted_in AFTER INSERT ON deliveries BEGIN
  INSERT INTO status_counts VALUES ('delivery', NEW.status, 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER deliveries_counted_over AFTER UPDATE OF status ON deliveries WHEN OLD.status <> NEW.status BEGIN
  UPDATE status_counts SET count = count - 1 WHERE subject = 'delivery' AND status = OLD.status;
  INSERT INTO status_counts VALUES ('delivery', NEW.status, 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER deliveries_counted_out AFTER DELETE ON deliveries BEGIN
  UPDATE status_counts SET count = count - 1 WHERE subject = 'delivery' AND status = OLD.status;
END;

CREATE TRIGGER chain_runs_counted_in AFTER INSERT ON chain_runs BEGIN
  INSERT INTO status_counts VALUES ('run', NEW.status, 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER chain_runs_counted_over AFTER UPDATE OF status ON chain_runs WHEN OLD.status <> NEW.status BEGIN
  UPDATE status_counts SET count = count - 1 WHERE subject = 'run' AND status = OLD.status;
  INSERT INTO status_counts VALUES ('run', NEW.status, 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER chain_runs_counted_out AFTER DELETE ON chain_runs BEGIN
  UPDATE status_counts SET count = count - 1 WHERE subject = 'run' AND status = OLD.status;
END;

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
