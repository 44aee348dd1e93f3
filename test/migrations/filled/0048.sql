-- What version 48 adds: when content was created, and by which installation.
-- Never changed once a later version exists: it stands for databases that people have.

UPDATE effects SET installation_id = 9, content_at = '2026-01-05T12:00:00.000Z' WHERE run_id = 'run_1';
