-- What retention goes by: docs/adr/0031.

-- What GitHub last said of the pull request, and since when it is so; of an open one, when that was last seen. `gone`: its repository
-- is out of reach. NULL: nobody has looked since this is kept.
ALTER TABLE pull_requests ADD COLUMN state TEXT CHECK (state IN ('open', 'closed', 'merged', 'gone'));
ALTER TABLE pull_requests ADD COLUMN state_at TEXT;
CREATE INDEX pull_requests_merged ON pull_requests (state_at, repository_id, number) WHERE state = 'merged';
UPDATE pull_requests SET state = 'merged', state_at = updated_at WHERE EXISTS (
  SELECT 1 FROM audit_log WHERE once_key = 'merged:' || pull_requests.repository_id || '#' || pull_requests.number);

-- Blobs whose rows are gone. A path is written here in the transaction that removes its row, and removed once the store has deleted
-- the blob: a crash in between leaves nothing that nobody would find again.
CREATE TABLE blobs_to_delete (
  path TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- What a chain was fired by that happens once, of runs that are removed: GitHub, or a look for what was missed, can tell of it again.
CREATE TABLE fired_once (
  repository_id INTEGER NOT NULL,
  head_sha      TEXT NOT NULL,
  chain         TEXT NOT NULL,
  subject       TEXT NOT NULL,
  PRIMARY KEY (repository_id, head_sha, chain, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX effects_without_run ON effects (updated_at, id) WHERE run_id IS NULL;
