-- What databases of version 9 may have: an effect and a job of one that wait for GitHub.
-- Never changed once a later version exists: it stands for databases that people have.

UPDATE effects SET progress_json = '{"away":true,"unsure_until":"2026-01-05T12:00:15.000Z"}' WHERE id = 'eff_2';

INSERT INTO jobs (id, kind, key, payload, run_at, attempts, lease_token, lease_until) VALUES
  (4, 'effect', 'effect:label:1', '{"key":"label:1","since":"2026-01-05T11:00:00.000Z"}', '2026-01-05T12:00:05.000Z', 7, NULL, NULL);
