-- What version 49 adds: dry runs that people asked for in Studio.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO dry_runs (id, person_id, repository_id, repository, pull_request, chain, is_pasted, begun_at, steps_json, changes, stops, end_json, ended_at) VALUES
  ('dry_1', 11, 70, 'acme/shop', 12, 'pr-review', 0, '2026-01-06T10:00:00.000Z', '[]', 0, 0, NULL, NULL),
  ('dry_2', 12, 70, 'acme/shop', NULL, 'nightly', 1, '2026-01-06T09:00:00.000Z', '[]', 3, 1, '{"kind":"failed","because":"stopped"}', '2026-01-06T09:01:00.000Z');
