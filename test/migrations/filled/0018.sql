-- What version 18 adds: how a pull request stands, a blob that is still to be deleted, and what a removed run was fired by.
-- Never changed once a later version exists: it stands for databases that people have.

UPDATE pull_requests SET state = 'open', state_at = '2026-01-05T12:13:00.000Z' WHERE rowid = (SELECT min(rowid) FROM pull_requests);
INSERT INTO blobs_to_delete (path) VALUES ('run_0/log.txt');
INSERT INTO fired_once (repository_id, head_sha, chain, subject) VALUES (70, 'a', 'announce', 'pr.merged');
