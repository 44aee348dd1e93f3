-- What the operator says about chains, for a repository or for all of an owner. A chain that is only in files has a row once its status
-- was changed, and its definition is NULL. See docs/adr/0043.
CREATE TABLE chains (
  id         TEXT PRIMARY KEY,
  owner      TEXT NOT NULL COLLATE NOCASE,
  repository TEXT COLLATE NOCASE,
  name       TEXT NOT NULL,
  definition TEXT,
  status     TEXT NOT NULL CHECK (status IN ('active', 'paused', 'disabled')),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX chains_by_name ON chains (owner, ifnull(repository, ''), name);
