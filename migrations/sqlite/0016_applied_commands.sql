-- The newest command of each scope that was applied to a pull request: one that was written before it, and comes after it, undoes
-- nothing. See docs/adr/0025.
CREATE TABLE applied_commands (
  repository_id INTEGER NOT NULL,
  pull_request  INTEGER NOT NULL,
  scope         TEXT NOT NULL,
  verb          TEXT NOT NULL,
  actor         TEXT NOT NULL,
  given_json    TEXT NOT NULL CHECK (json_valid(given_json)),
  PRIMARY KEY (repository_id, pull_request, scope)
) STRICT;
