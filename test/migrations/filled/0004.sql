-- What the version with model calls adds: one that is settled, one that nobody knows the end of, and one without a run.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO model_calls (id, run_id, session_id, repository_id, pull_request, skill, artifact, model, tokens, cost,
    tokens_in, tokens_out, started_at, completed_at, error) VALUES
  (1, 'run_1', 'ses_1', 70, 3, 'tone-review', 'review.md', 'openai/gpt-5-mini', 1230, 560, 1200, 30,
    '2026-01-05T12:00:02.000Z', '2026-01-05T12:00:04.000Z', NULL),
  (2, 'run_1', 'ses_1', 70, 3, 'tone-review', 'review.md', 'openai/gpt-5-mini', 9000, 17000, NULL, NULL,
    '2026-01-05T12:00:04.000Z', '2026-01-05T12:03:04.000Z', 'The model gave no whole answer in time.'),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, 'openai-compatible/qwen3:8b', 8000, NULL, NULL, NULL,
    '2026-01-05T12:00:04.000Z', NULL, NULL);
