-- What version 31 adds: when an event that fires once happened.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO fired_once (repository_id, head_sha, chain, subject, fired_at) VALUES
  (70, 'b', 'announce', '["issue.created",null,12,null]', '2026-01-06T10:00:00.000Z');
