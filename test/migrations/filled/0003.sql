-- What version 3 adds: who or what made a change of status. Those that stand already have none.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO transitions (id, subject_kind, subject_id, from_status, to_status, reason_code, at, actor_json) VALUES
  (3, 'run', 'run_2', 'running', 'cancelled', 'run.cancelled.by_person', '2026-01-05T12:20:00.000Z',
    '{"kind":"person","login":"mia"}');
