-- What comes with version 48: when content was created.
-- Never changed once a later version exists: it stands for databases that people have.

UPDATE effects SET progress_json = json_set(progress_json, '$.content_at', '2026-01-05T12:00:00.000Z')
  WHERE run_id = 'run_1' AND progress_json LIKE '%c0ffee%';
