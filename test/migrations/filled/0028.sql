-- What version 28 adds: what the operator says about chains.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO chains (id, owner, repository, name, definition, status, created_at, updated_at) VALUES
  ('chn_1', 'acme', 'shop', 'deploy', 'name: deploy', 'active', '2026-01-05T10:00:00.000Z', '2026-01-05T10:00:00.000Z'),
  ('chn_2', 'acme', NULL, 'pr-review', NULL, 'paused', '2026-01-05T10:00:00.000Z', '2026-01-05T11:00:00.000Z');
