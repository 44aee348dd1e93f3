-- What version 32 adds: the pull request that a firing was about.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO firings (id, repository_id, chain, trigger, occasion, installation_id, repository, status, reason, summary, count, run_id, pull_request, due_at, updated_at) VALUES
  ('fir_3', 70, 'deploy', 'all_of (pr.labeled, ci.changed) within 1 d', 'main 0 #3 expired 2026-01-06T10:00:00.000Z', 7, 'acme/shop', 'skipped', 'expired',
   'all_of (pr.labeled, ci.changed) within 1 d did not fire for pull request #3', 1, 'run_5', 3, '2026-01-06T10:00:00.000Z', '2026-01-06T10:00:01.000Z');
