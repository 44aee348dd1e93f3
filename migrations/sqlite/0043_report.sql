-- What the report by repository counts when runs end and when people answer. SQLite changes no check of a table that exists.
CREATE TABLE new_daily_figures (
  day           TEXT NOT NULL,
  repository_id INTEGER NOT NULL,
  what          TEXT NOT NULL CHECK (what IN (
    'waited', 'countersigned', 'rejected', 'fixed', 'dismissed', 'ended', 'changes_requested', 'answered')),
  name          TEXT NOT NULL,
  bucket        INTEGER NOT NULL,
  count         INTEGER NOT NULL,
  total         INTEGER NOT NULL,
  PRIMARY KEY (day, repository_id, what, name, bucket)
) STRICT, WITHOUT ROWID;
INSERT INTO new_daily_figures SELECT * FROM daily_figures;
DROP TABLE daily_figures;
ALTER TABLE new_daily_figures RENAME TO daily_figures;

-- How each repository was when its default branch was last read. Written only when it differs.
CREATE TABLE repository_states (
  repository_id   INTEGER PRIMARY KEY,
  installation_id INTEGER NOT NULL,
  repository      TEXT NOT NULL,
  branch          TEXT NOT NULL,
  rollout         TEXT NOT NULL CHECK (rollout IN ('off', 'observe', 'comment', 'enforce')),
  -- What sets the rollout; NULL if nothing lowers it.
  rollout_by      TEXT CHECK (rollout_by IN ('organisation', 'server', 'unreadable')),
  -- How many errors its configuration has, and the first of them.
  errors          INTEGER NOT NULL CHECK (errors >= 0),
  first_json      TEXT CHECK (json_valid(first_json)),
  changed_at      TEXT NOT NULL
) STRICT;
CREATE INDEX repository_states_by_name ON repository_states (repository COLLATE NOCASE, repository_id);
CREATE INDEX repository_states_by_installation ON repository_states (installation_id);
