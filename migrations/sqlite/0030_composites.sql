-- What the composites of chains have seen for each pull request, commit or repository; see docs/adr/0054. A row goes when it expires.
CREATE TABLE composites (
  repository_id   INTEGER NOT NULL,
  chain           TEXT NOT NULL,
  -- The branch whose configuration has the chain.
  branch          TEXT NOT NULL,
  -- The place of the composite among the triggers of its chain.
  position        INTEGER NOT NULL,
  -- What its parts have in common.
  key             TEXT NOT NULL,
  installation_id INTEGER NOT NULL,
  repository      TEXT NOT NULL,
  -- The composite as it was. If the chain has another one now, the row begins from nothing.
  definition_json TEXT NOT NULL,
  state_json      TEXT NOT NULL,
  expires_at      TEXT NOT NULL,
  PRIMARY KEY (repository_id, chain, branch, position, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX composites_expiring ON composites (expires_at);
CREATE INDEX composites_of_chain ON composites (repository_id, chain, expires_at);
