-- What version 1 leaves behind: in each table a row with every column filled and one with every column empty that may be.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO deliveries (id, guid, event, action, installation_id, received_at, status, attempts, error, finished_at) VALUES
  (1, 'b3d4-1', 'pull_request', 'opened', 7, '2026-01-05T12:00:00.000Z', 'done', 1, NULL, '2026-01-05T12:00:02.000Z'),
  (2, 'b3d4-2', 'push', NULL, NULL, '2026-01-05T12:00:01.000Z', 'received', 0, NULL, NULL),
  (3, 'b3d4-3', 'issue_comment', 'created', 7, '2026-01-05T12:00:01.000Z', 'failed', 8, 'GitHub said: it isn''t there', '2026-01-05T12:00:09.000Z');
INSERT INTO delivery_bodies (delivery_id, body) VALUES
  (1, CAST('{"action":"opened","title":"Grüße"}' AS BLOB)),
  (2, x'7b7d'),
  (3, x'7b00ff7d');

INSERT INTO pull_requests (repository_id, number, repository, installation_id, paused_by, head_sha, previous_head_sha, head_seen_at, updated_at) VALUES
  (70, 3, 'acme/rocket', 7, 'mira', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', '2026-01-05T12:00:01.000Z', '2026-01-05T12:00:01.000Z'),
  (70, 4, 'acme/rocket', 7, NULL, NULL, NULL, NULL, '2026-01-05T12:00:02.000Z');

INSERT INTO chain_runs (id, installation_id, repository_id, repository, pull_request, head_sha, base_ref, base_sha, chain,
    definition_json, settings_json, facts_json, event_json, delivery_id, status, reason_json, paused, created_at, updated_at, finished_at) VALUES
  ('run_1', 7, 70, 'acme/rocket', 3, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'main', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', 'pr-review',
    '{"name":"pr-review","trigger":{"event":"pr.opened","filter":{}},"steps":[{"id":"review","index":0,"uses":{"kind":"skill","name":"review"},"dependsOn":[],"with":{"pr":"{{ trigger.pr_number }}"},"retry":{"attempts":1,"backoffMs":0},"onFailure":"fail","requiresApproval":false},{"id":"merge","index":1,"uses":{"kind":"skill","name":"merge"},"dependsOn":[],"with":{"pr":"{{ trigger.pr_number }}"},"retry":{"attempts":1,"backoffMs":0},"onFailure":"fail","requiresApproval":false}]}',
    '{"noise":"quiet"}',
    '{"trigger":{"pr_number":3,"labels":["bug"],"draft":false},"repo":{"full_name":"acme/rocket","owner":"acme","name":"rocket","default_branch":"main"}}',
    '{"kind":"pr.opened","installation_id":7,"repository":{"id":70,"owner":"acme","name":"rocket"},"pull_request":3,"action":"opened"}',
    1, 'waiting_approval', NULL, 0, '2026-01-05T12:00:02.000Z', '2026-01-05T12:00:05.000Z', NULL),
  ('run_2', 7, 70, 'acme/rocket', NULL, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'main', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', 'nightly',
    '{"name":"pr-review","trigger":{"event":"pr.opened","filter":{}},"steps":[{"id":"review","index":0,"uses":{"kind":"skill","name":"review"},"dependsOn":[],"with":{"pr":"{{ trigger.pr_number }}"},"retry":{"attempts":1,"backoffMs":0},"onFailure":"fail","requiresApproval":false},{"id":"merge","index":1,"uses":{"kind":"skill","name":"merge"},"dependsOn":[],"with":{"pr":"{{ trigger.pr_number }}"},"retry":{"attempts":1,"backoffMs":0},"onFailure":"fail","requiresApproval":false}]}',
    '{"noise":"quiet"}',
    '{"trigger":{"pr_number":3,"labels":["bug"],"draft":false},"repo":{"full_name":"acme/rocket","owner":"acme","name":"rocket","default_branch":"main"}}',
    '{"kind":"pr.opened","installation_id":7,"repository":{"id":70,"owner":"acme","name":"rocket"},"pull_request":3,"action":"opened"}',
    NULL, 'completed', '{"code":"run.completed","summary":"It is done.","evidence":[{"kind":"person","id":"mira","label":"Mira"}]}', 1, '2026-01-05T12:00:03.000Z', '2026-01-05T12:00:08.000Z', '2026-01-05T12:00:08.000Z');

-- The first three refer to one another in a circle, which is looked at when all of them are there.
BEGIN;
INSERT INTO invocations (id, run_id, step_index, step_id, status, reason_json, attempts, session_id, wait_until, deadline_at,
    outcome_json, outcome_artifact_id, started_at, finished_at) VALUES
  ('inv_1', 'run_1', 0, 'review', 'completed', '{"code":"step.completed","summary":"It is done.","evidence":[{"kind":"person","id":"mira","label":"Mira"}]}', 1, 'ses_1', NULL, NULL,
    '{"outcome_kind":"action_result","summary":"Merged as abc.","passed":true,"action":"merged","details":{"sha":"abc","countersigned_by":["mira"]},"content_hash":"sha256:e1d264aedc3c50509e8d0bb03e373305cca7f0451a15cfeef7fdb0068fdd5183"}', 'art_1', '2026-01-05T12:00:02.000Z', '2026-01-05T12:00:04.000Z'),
  ('inv_2', 'run_1', 1, 'merge', 'waiting_approval', NULL, 1, 'ses_2', '2026-01-05T12:01:00.000Z', '2026-01-05T12:10:00.000Z', NULL, NULL, '2026-01-05T12:00:04.000Z', NULL),
  ('inv_3', 'run_2', 0, 'ci', 'pending', NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO sessions (id, invocation_id, attempt, status, reason_json, started_at, finished_at,
    artifact_contract_json, artifact_verification_json) VALUES
  ('ses_1', 'inv_1', 1, 'completed', '{"code":"step.completed","summary":"It is done.","evidence":[{"kind":"person","id":"mira","label":"Mira"}]}', '2026-01-05T12:00:02.000Z', '2026-01-05T12:00:04.000Z', '{"expected":[{"id":"verdict","kind":"outcome","outcome":"action_result","required":true,"source":"skill"}]}', '{"status":"passed","checked_at":"2026-01-05T12:00:04.000Z","missing_required":[],"missing_optional":[],"produced":[]}'),
  ('ses_2', 'inv_2', 1, 'waiting', NULL, '2026-01-05T12:00:04.000Z', NULL, NULL, NULL);
INSERT INTO artifacts (id, run_id, invocation_id, session_id, created_at, kind, name, content, file_path) VALUES
  ('art_1', 'run_1', 'inv_1', 'ses_1', '2026-01-05T12:00:04.000Z', 'action_result', 'outcome',
    '{"outcome_kind":"action_result","summary":"Merged as abc.","passed":true,"action":"merged","details":{"sha":"abc","countersigned_by":["mira"]},"content_hash":"sha256:e1d264aedc3c50509e8d0bb03e373305cca7f0451a15cfeef7fdb0068fdd5183"}', NULL),
  ('art_2', 'run_1', 'inv_1', 'ses_1', '2026-01-05T12:00:04.000Z', 'findings', 'findings.json', NULL, 'run_1/ses_1/findings.json');
COMMIT;

INSERT INTO approvals (id, run_id, invocation_id, head_sha, base_ref, status, asked_at, looked_at, decision_json, countersigned_by_json) VALUES
  ('apr_1', 'run_1', 'inv_2', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'main', 'void', '2026-01-05T12:00:04.000Z', '2026-01-05T12:00:05.000Z',
    '{"status":"unmet","summary":"one of two countersigned","evidence":["mira"],"reasons":[]}', '["mira"]'),
  ('apr_2', 'run_1', 'inv_2', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'main', 'open', '2026-01-05T12:00:05.000Z', NULL, NULL, '[]');

INSERT INTO effects (id, key, effect_json, wished_hash, applied_hash, status, github_id, begun, progress_json, attempts, error, run_id, created_at, updated_at) VALUES
  ('eff_1', 'status:70#3',
    '{"kind":"comment","installation_id":7,"owner":"acme","repo":"rocket","issue":3,"marker":"<!-- countersign:status -->","body":"The chain waits for a countersign. Grüße 🚀"}',
    'sha256:e1362ed2c262956ab04f3e5070dcb0a82f6675e58e806b8d8da3ad7c8a11953d', 'sha256:e1362ed2c262956ab04f3e5070dcb0a82f6675e58e806b8d8da3ad7c8a11953d', 'done', 41, 1, '{"body_hash":"c0ffee"}', 1, 'refused once', 'run_1', '2026-01-05T12:00:02.000Z', '2026-01-05T12:00:03.000Z'),
  ('eff_2', 'approval:apr_2',
    '{"kind":"comment","installation_id":7,"owner":"acme","repo":"rocket","issue":3,"marker":"<!-- countersign:status -->","body":"The chain waits for a countersign. Grüße 🚀"}',
    'sha256:e1362ed2c262956ab04f3e5070dcb0a82f6675e58e806b8d8da3ad7c8a11953d', NULL, 'pending', NULL, 0, '{}', 0, NULL, NULL, '2026-01-05T12:00:05.000Z', '2026-01-05T12:00:05.000Z');

INSERT INTO jobs (id, kind, key, payload, run_at, attempts, lease_token, lease_until) VALUES
  (1, 'session', 'session:ses_2', '{"sessionId":"ses_2","because":"time"}', '2026-01-05T12:01:00.000Z', 0, NULL, NULL),
  (2, 'effect', 'effect:approval:apr_2', '{"key":"approval:apr_2"}', '2026-01-05T12:00:05.000Z', 2, 'box:10:1767614400000:x', '2026-01-05T12:00:35.000Z'),
  (3, 'delivery', 'repo:70', '{"deliveryId":2}', '2026-01-05T12:00:01.000Z', 0, NULL, NULL);

INSERT INTO transitions (id, subject_kind, subject_id, from_status, to_status, reason_code, at) VALUES
  (1, 'run', 'run_1', 'running', 'waiting_approval', 'step.waiting.approval', '2026-01-05T12:00:05.000Z'),
  (2, 'session', 'ses_1', 'running', 'completed', NULL, '2026-01-05T12:00:04.000Z');
