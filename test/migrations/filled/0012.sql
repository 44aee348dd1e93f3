-- What version 12 adds: what was done, by whom, on which head and base; and what was asked about no repository.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO audit_log (at, kind, repository_id, repository, pull_request, head_sha, base_ref, configuration_sha, run_id, by_json, details_json, once_key) VALUES
  ('2026-01-05T12:11:00.000Z', 'run.begun', 70, 'acme/rocket', 3, 'a', 'main', 'b', 'run_1', '{"kind":"person","login":"mia"}',
   '{"chain":"pr-review","event":"pr.opened"}', 'begun:run_1'),
  ('2026-01-05T12:12:00.000Z', 'command.carried_out', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"kind":"operator"}',
   '{"verb":"prune","via":{"kind":"command_line"}}', NULL);
