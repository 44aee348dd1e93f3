-- What version 37 adds: what running sessions have printed so far.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO session_logs (session_id, position, run_id, begun_at, text) VALUES
  ('ses_2', 15, 'run_1', '2026-01-06T10:00:00.000Z', 'installing …
'),
  ('ses_2', 21, 'run_1', '2026-01-06T10:00:00.000Z', 'built
');
