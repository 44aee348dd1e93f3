-- Who is signed in to Studio. A row is one browser of one person, and goes when it expires or the person signs out.
CREATE TABLE studio_sessions (
  -- SHA-256 of the token in the cookie, so that nobody who reads this table can use it.
  token_hash     TEXT PRIMARY KEY,
  previous_hash  TEXT,
  previous_until TEXT,
  -- The account on GitHub.
  person_id      INTEGER NOT NULL,
  login          TEXT NOT NULL,
  -- The person's tokens for GitHub and the secret of their forms, encrypted with a key that the database does not have.
  sealed         BLOB NOT NULL,
  signed_in_at   TEXT NOT NULL,
  rotated_at     TEXT NOT NULL,
  seen_at        TEXT NOT NULL,
  expires_at     TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX studio_sessions_by_previous ON studio_sessions (previous_hash) WHERE previous_hash IS NOT NULL;
CREATE INDEX studio_sessions_expiring ON studio_sessions (expires_at);

-- Commands that people gave in Studio, with the reply to show them. A row goes after a day.
CREATE TABLE studio_commands (
  id            TEXT PRIMARY KEY,
  person_id     INTEGER NOT NULL,
  repository_id INTEGER NOT NULL,
  asked_at      TEXT NOT NULL,
  -- Both are NULL until the command was executed or refused.
  ok            INTEGER CHECK (ok IN (0, 1)),
  reply         TEXT,
  CHECK ((ok IS NULL) = (reply IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX studio_commands_by_time ON studio_commands (asked_at);
