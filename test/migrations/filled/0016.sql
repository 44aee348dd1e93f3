-- What version 16 adds: a command that was applied. And a run that is not over, with all of its settings.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO applied_commands (repository_id, pull_request, scope, verb, actor, given_json) VALUES
  (70, 3, 'pause', 'pause', 'mia', '{"second":"2026-01-05T12:00:00Z","source":"comment","number":5,"line":0}');
UPDATE chain_runs SET settings_json = '{"countersign":{"permission":"maintain","teams":[],"users":[],"count":2,"approve":["rocket"],"reject":["-1"]},"merge":{"method":"rebase"},"ci":{"wait":21600000,"no_checks":"allow","required":[],"ignore":[]},"noise":"quiet"}'
  WHERE id = 'run_1';
