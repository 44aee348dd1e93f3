-- What version 11 adds: a job of something that is away.
-- Never changed once a later version exists: it stands for databases that people have.

UPDATE jobs SET away_since = '2026-01-05T11:30:00.000Z' WHERE id = 1;

INSERT INTO effects (id, key, effect_json, wished_hash, applied_hash, status, github_id, begun, progress_json, attempts, error, run_id, created_at, updated_at) VALUES
  ('eff_merge', 'merge:run_1:a', '{"kind":"merge","installation_id":7,"owner":"acme","repo":"rocket","pull_request":3,"head_sha":"a","base_ref":"main","method":"squash","countersigned_by":["mia"]}',
   'h', 'h', 'done', NULL, 1, '{"merge_sha":"c0ffee"}', 1, NULL, 'run_1', '2026-01-05T12:10:00.000Z', '2026-01-05T12:10:20.000Z');
