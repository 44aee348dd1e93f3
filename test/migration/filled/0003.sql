-- What version 3 adds: a transition whose actor is known, beside those of before, which have none.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO transitions (id, subject_kind, subject_id, from_status, to_status, reason_code, at, actor_json) VALUES
  (3, 'run', 'run_2', 'running', 'completed', 'run.completed', '2026-01-05T12:00:08.000Z', '{"kind":"person","login":"mira"}');
