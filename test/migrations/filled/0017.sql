-- What version 17 adds: a push, and what a question said of who can be credited.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO pushes (repository_id, after_sha, before_sha, actor_id, recorded_at) VALUES
  (70, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', 5, '2026-01-05T12:00:00.000Z');

UPDATE approvals SET authorship_json = '{}' WHERE id = 'apr_1';
