-- Skill packages, each named by its content: what a run began with is there for all of its steps, whatever became of the files
-- it was read from.
CREATE TABLE skills (
  id                   TEXT PRIMARY KEY,
  name                 TEXT NOT NULL,
  description          TEXT NOT NULL,
  version              TEXT,
  tags_json            TEXT NOT NULL CHECK (json_valid(tags_json)),
  source               TEXT NOT NULL CHECK (source IN ('system', 'community', 'user')),
  author               TEXT,
  intent_patterns_json TEXT NOT NULL CHECK (json_valid(intent_patterns_json)),
  trigger_phrases_json TEXT NOT NULL CHECK (json_valid(trigger_phrases_json)),
  marketplace_id       TEXT,
  sync_etag            TEXT,
  created_at           TEXT NOT NULL,
  updated_at           TEXT NOT NULL
) STRICT;

CREATE TABLE skill_artifacts (
  id            TEXT PRIMARY KEY,
  skill_id      TEXT NOT NULL REFERENCES skills (id) ON DELETE CASCADE,
  kind          TEXT NOT NULL CHECK (kind IN ('description', 'prompt_template', 'code_template', 'dspy_module', 'analyzer', 'agent')),
  name          TEXT NOT NULL,
  ordinal       INTEGER NOT NULL CHECK (ordinal >= 0),
  content       TEXT NOT NULL,
  model_variant TEXT,
  metadata_json TEXT NOT NULL CHECK (json_valid(metadata_json)),
  -- What an optimizer learned about a module; never code.
  state_blob    TEXT CHECK (json_valid(state_blob))
) STRICT;
-- NULLs would all be different from each other, and there is one artifact for all models.
CREATE UNIQUE INDEX skill_artifacts_by_name ON skill_artifacts (skill_id, name, coalesce(model_variant, ''));
