-- What version 29 adds: schedules, and what became of their firings.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO schedules (repository_id, chain, trigger, installation_id, repository, schedule_json, next_at) VALUES
  (70, 'nightly', '30 2 * * 1-5 Europe/Berlin', 7, 'acme/shop',
   '{"schedule":"30 2 * * 1-5","timezone":"Europe/Berlin","catchup":"last","catchupWindowMs":86400000,"overlap":"skip"}',
   '2026-01-06T01:30:00.000Z');

INSERT INTO firings (id, repository_id, chain, trigger, occasion, installation_id, repository, status, reason, summary, count, run_id, due_at, updated_at) VALUES
  ('fir_1', 70, 'nightly', '30 2 * * 1-5 Europe/Berlin', '2026-01-02T01:30:00.000Z', 7, 'acme/shop', 'fired', NULL, NULL, 1, 'run_3',
   '2026-01-02T01:30:00.000Z', '2026-01-02T01:30:01.000Z'),
  ('fir_2', 70, 'nightly', '30 2 * * 1-5 Europe/Berlin', '2026-01-05T01:30:00.000Z', 7, 'acme/shop', 'skipped', 'overlap',
   'the run run_3 of nightly is still under way', 1, 'run_4', '2026-01-05T01:30:00.000Z', '2026-01-05T01:30:01.000Z');
