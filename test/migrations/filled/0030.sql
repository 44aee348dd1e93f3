-- What version 30 adds: what composites have seen so far.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO composites (repository_id, chain, branch, position, key, installation_id, repository, definition_json, state_json, expires_at) VALUES
  (70, 'deploy', 'main', 0, 'commit:abc', 7, 'acme/shop', '{"all_of":[]}', '{"seen":[]}', '2026-01-06T10:00:00.000Z');
