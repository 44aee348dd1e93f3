-- What version 7 adds: which skill was chosen for a step, questions that called one, and traces of both; and an effect that a death
-- cut off, as its program wrote it.
-- Never changed once a later version exists: it stands for databases that people have.

UPDATE sessions SET choice_json =
  '{"kind":"skill","skill":"pr-review","id":"sha256:4a","artifact":"prompts/review.md","by":"match","because":"It speaks of a review."}'
  WHERE id = 'ses_1';

INSERT INTO skill_calls (id, installation_id, repository_id, repository, pull_request, comment_id, asked_by, question, decision_json, created_at,
    finished_at) VALUES
  ('call_1', 3, 70, 'acme/rocket', 7, 501, 'mira', 'Is it safe?', '{"kind":"question","text":"Safe for what?"}', '2026-01-05T12:00:00.000Z', '2026-01-05T12:00:05.000Z'),
  ('call_2', 3, 70, 'acme/rocket', 7, 502, 'mira', 'And fast?', NULL, '2026-01-05T12:01:00.000Z', NULL);

INSERT INTO skill_execution_traces (id, run_id, session_id, call_id, skill, skill_id, artifact, kind, input_path, output_path, error, started_at,
    completed_at, duration_ms, tokens_in, tokens_out, model, cost, assertions_run, assertions_passed) VALUES
  (1, 'run_1', 'ses_1', NULL, 'pr-review', 'sha256:4a', 'prompts/review.md', 'prompt_template', 'run_1/in', 'run_1/out', NULL,
    '2026-01-05T12:00:02.000Z', '2026-01-05T12:00:03.000Z', 1000, 120, 30, 'openai/gpt-5', 12, 2, 1),
  (2, NULL, NULL, 'call_1', 'pr-review', 'sha256:4a', 'SKILL.md', 'description', 'call_1/in', NULL, 'The model did not answer.',
    '2026-01-05T12:00:02.000Z', '2026-01-05T12:00:04.000Z', 2000, NULL, NULL, NULL, NULL, 0, 0);

UPDATE effects SET progress_json = '{"body_hash":"c0ffee","unsure_until":"2026-01-05T12:00:12.000Z","cut_off":true}' WHERE id = 'eff_1';
