-- Tokens for the API. Only their hashes are stored.
CREATE TABLE api_tokens (
  id                TEXT PRIMARY KEY,
  name              TEXT NOT NULL,
  hash              TEXT NOT NULL UNIQUE,
  scopes_json       TEXT NOT NULL,
  repositories_json TEXT NOT NULL,
  created_at        TEXT NOT NULL,
  expires_at        TEXT NOT NULL,
  revoked_at        TEXT,
  used_at           TEXT
) STRICT, WITHOUT ROWID;
