-- What version 33 adds: tokens for the API.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO api_tokens (id, name, hash, scopes_json, repositories_json, created_at, expires_at, revoked_at, used_at) VALUES
  ('tok_1', 'dashboard', 'aa', '["read"]', '[70]', '2026-01-06T10:00:00.000Z', '2026-04-06T10:00:00.000Z', NULL, NULL),
  ('tok_2', 'old', 'bb', '["operator"]', '[]', '2026-01-01T10:00:00.000Z', '2026-04-01T10:00:00.000Z', '2026-01-06T10:00:00.000Z', '2026-01-05T10:00:00.000Z');
