-- On which pull requests reviews found a rule. What people accept silences a rule only if it is most of these; see
-- docs/adr/0068. Counting findings would not do: each push finds them again.
CREATE TABLE rule_sightings (
  repository_id INTEGER NOT NULL,
  rule          TEXT NOT NULL,
  pull_request  INTEGER NOT NULL,
  first_at      TEXT NOT NULL,
  PRIMARY KEY (repository_id, rule, pull_request)
) STRICT, WITHOUT ROWID;

-- Rules of which somebody had all findings shown again. What was accepted until then silences them no more.
CREATE TABLE forgotten_rules (
  repository_id INTEGER NOT NULL,
  rule          TEXT NOT NULL,
  forgotten_at  TEXT NOT NULL,
  -- The login of the person; NULL for the operator's command line.
  by_login      TEXT,
  PRIMARY KEY (repository_id, rule)
) STRICT, WITHOUT ROWID;

-- Replies in conversations on lines that a model answers: each once, and only so many of a conversation and a pull request.
CREATE TABLE thread_replies (
  comment_id    INTEGER PRIMARY KEY,
  thread        INTEGER NOT NULL,
  repository_id INTEGER NOT NULL,
  pull_request  INTEGER NOT NULL,
  asked_by      TEXT NOT NULL,
  asked_at      TEXT NOT NULL
) STRICT;
CREATE INDEX thread_replies_by_pull_request ON thread_replies (repository_id, pull_request, asked_at);
