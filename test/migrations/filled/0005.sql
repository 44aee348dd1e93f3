-- What version 5 adds: a skill package with all that it may say of itself, and one that says as little as it can.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO skills (id, name, description, version, tags_json, source, author, intent_patterns_json, trigger_phrases_json,
    marketplace_id, sync_etag, created_at, updated_at) VALUES
  ('sha256:aa', 'tone-review', 'Judges the tone of what people read.', '1.2.0', '["words"]', 'community', 'mia',
    '["tone of .*"]', '["check the tone"]', 'market_7', '"e7"', '2026-01-05T12:00:00.000Z', '2026-01-05T12:00:00.000Z'),
  ('sha256:bb', 'naming', 'Judges names.', NULL, '[]', 'user', NULL, '[]', '[]', NULL, NULL,
    '2026-01-05T12:00:00.000Z', '2026-01-05T12:00:00.000Z');

INSERT INTO skill_artifacts (id, skill_id, kind, name, ordinal, content, model_variant, metadata_json, state_blob) VALUES
  ('sha256:aa/0', 'sha256:aa', 'description', 'SKILL.md', 0, '---', NULL, '{}', NULL),
  ('sha256:aa/1', 'sha256:aa', 'prompt_template', 'review.md', 1, 'Is it kind?', 'gpt', '{"temperature":0}', NULL),
  ('sha256:aa/2', 'sha256:aa', 'dspy_module', 'judge.json', 2, '{}', NULL, '{}', '{"demos":[]}');
