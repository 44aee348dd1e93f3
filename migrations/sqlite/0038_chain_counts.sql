-- Runs of each chain in each repository by status, and its newest one: what the list of chains shows, without reading every run. Kept as
-- docs/adr/0024 keeps the counts for metrics. A later migration that builds `chain_runs` anew makes these triggers again.
CREATE TABLE chain_counts (
  chain         TEXT NOT NULL,
  repository_id INTEGER NOT NULL,
  status        TEXT NOT NULL,
  runs          INTEGER NOT NULL CHECK (runs >= 0),
  PRIMARY KEY (chain, repository_id, status)
) STRICT, WITHOUT ROWID;

CREATE TABLE newest_of_chains (
  chain         TEXT NOT NULL,
  repository_id INTEGER NOT NULL,
  run_id        TEXT NOT NULL,
  begun_at      TEXT NOT NULL,
  PRIMARY KEY (chain, repository_id)
) STRICT, WITHOUT ROWID;

INSERT INTO chain_counts SELECT chain, repository_id, status, count(*) FROM chain_runs GROUP BY chain, repository_id, status;
-- Columns beside max() are those of its row: https://sqlite.org/lang_select.html#bareagg
INSERT INTO newest_of_chains SELECT chain, repository_id, id, max(created_at) FROM chain_runs GROUP BY chain, repository_id;

CREATE TRIGGER chain_counts_in AFTER INSERT ON chain_runs BEGIN
  INSERT INTO chain_counts VALUES (NEW.chain, NEW.repository_id, NEW.status, 1) ON CONFLICT DO UPDATE SET runs = runs + 1;
  INSERT INTO newest_of_chains VALUES (NEW.chain, NEW.repository_id, NEW.id, NEW.created_at)
    ON CONFLICT DO UPDATE SET run_id = excluded.run_id, begun_at = excluded.begun_at WHERE excluded.begun_at >= begun_at;
END;
CREATE TRIGGER chain_counts_over AFTER UPDATE OF status ON chain_runs WHEN OLD.status <> NEW.status BEGIN
  UPDATE chain_counts SET runs = runs - 1 WHERE chain = OLD.chain AND repository_id = OLD.repository_id AND status = OLD.status;
  INSERT INTO chain_counts VALUES (NEW.chain, NEW.repository_id, NEW.status, 1) ON CONFLICT DO UPDATE SET runs = runs + 1;
END;
CREATE TRIGGER chain_counts_out AFTER DELETE ON chain_runs BEGIN
  UPDATE chain_counts SET runs = runs - 1 WHERE chain = OLD.chain AND repository_id = OLD.repository_id AND status = OLD.status;
  -- Also of statuses that runs have left.
  DELETE FROM chain_counts WHERE chain = OLD.chain AND repository_id = OLD.repository_id AND runs = 0;
END;
-- Retention deletes the oldest first, so this happens to the last run of a chain that a repository has.
CREATE TRIGGER newest_of_chains_out AFTER DELETE ON chain_runs
  WHEN OLD.id = (SELECT run_id FROM newest_of_chains WHERE chain = OLD.chain AND repository_id = OLD.repository_id) BEGIN
  DELETE FROM newest_of_chains WHERE chain = OLD.chain AND repository_id = OLD.repository_id;
  INSERT INTO newest_of_chains
    SELECT chain, repository_id, id, max(created_at) FROM chain_runs
      WHERE repository_id = OLD.repository_id AND chain = OLD.chain GROUP BY chain, repository_id;
END;
