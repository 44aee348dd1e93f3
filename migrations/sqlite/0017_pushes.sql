-- Who pushed which commits, as GitHub's webhooks told: docs/adr/0030.
CREATE TABLE pushes (
  repository_id INTEGER NOT NULL,
  after_sha     TEXT NOT NULL,
  before_sha    TEXT NOT NULL,
  actor_id      INTEGER NOT NULL,
  recorded_at   TEXT NOT NULL,
  PRIMARY KEY (repository_id, after_sha, before_sha, actor_id)
) STRICT, WITHOUT ROWID;

-- What of a head nobody can be credited with, as its question says.
ALTER TABLE approvals ADD COLUMN authorship_json TEXT CHECK (authorship_json IS NULL OR json_valid(authorship_json));

-- Settings that there were not when these runs began, at their defaults: otherwise each open question would be void, because its settings
-- differ from those of today.
UPDATE chain_runs
  SET settings_json = json_set(
    settings_json,
    '$.countersign.unattributed', coalesce(settings_json ->> '$.countersign.unattributed', 'one_more'),
    '$.merge.by', coalesce(settings_json ->> '$.merge.by', 'app'),
    '$.merge.changes_requested', coalesce(settings_json ->> '$.merge.changes_requested', 'block')
  )
  WHERE finished_at IS NULL AND settings_json ->> '$.countersign' IS NOT NULL AND settings_json ->> '$.merge' IS NOT NULL;
