-- An archive without rows, so that the run still has its own.
INSERT INTO run_archives (id, effects, artifacts, content) VALUES (7, 0, 0, X'0128b52ffd245de50000200a7b7d7d0600fde7192cfa1cf03c6a0760a57660b9aa0cba6a57b11485625d');
INSERT INTO archived_keys VALUES (123456789, 7);
UPDATE chain_runs SET archive_id = 7 WHERE id = 'run_2';
