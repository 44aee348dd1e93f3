-- Who did what, when, on which head and base, under which configuration: docs/adr/0021. It outlives what it is about, so nothing
-- here refers to other tables, and no row is ever changed or removed.
CREATE TABLE audit_log (
  id                INTEGER PRIMARY KEY,
  at                TEXT NOT NULL,
  kind              TEXT NOT NULL,
  repository_id     INTEGER,
  repository        TEXT,
  pull_request      INTEGER,
  head_sha          TEXT,
  base_ref          TEXT,
  configuration_sha TEXT,
  run_id            TEXT,
  by_json           TEXT NOT NULL CHECK (json_valid(by_json)),
  details_json      TEXT NOT NULL CHECK (json_valid(details_json)),
  -- The name of what can happen only once, so that a delivery that is processed again adds no second line.
  once_key          TEXT
) STRICT;
CREATE UNIQUE INDEX audit_log_once ON audit_log (once_key) WHERE once_key IS NOT NULL;
CREATE INDEX audit_log_by_base ON audit_log (repository_id, base_ref, id) WHERE kind = 'configuration.changed';

-- The merges that the ledger of effects knows, so that retention takes none of them away unrecorded.
INSERT INTO audit_log (at, kind, repository_id, repository, pull_request, head_sha, base_ref, configuration_sha, run_id, by_json, details_json, once_key)
  SELECT effects.updated_at, 'merge.made', chain_runs.repository_id, chain_runs.repository, chain_runs.pull_request,
         effects.effect_json ->> 'head_sha', effects.effect_json ->> 'base_ref', chain_runs.base_sha, chain_runs.id, '{"kind":"app"}',
         json_object(
           'people', coalesce(effects.effect_json -> 'countersigned_by', json('[]')),
           'method', effects.effect_json ->> 'method',
           'merge_sha', coalesce(effects.progress_json ->> 'merge_sha', '')
         ),
         'merged:' || chain_runs.repository_id || '#' || chain_runs.pull_request
    FROM effects JOIN chain_runs ON chain_runs.id = effects.run_id
    WHERE effects.status = 'done' AND effects.effect_json ->> 'kind' = 'merge'
    ORDER BY effects.updated_at
    ON CONFLICT DO NOTHING;

-- A later migration that must change the table drops these first, and says why.
CREATE TRIGGER audit_log_refuses_update BEFORE UPDATE ON audit_log
  BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_log_refuses_delete BEFORE DELETE ON audit_log
  BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
-- INSERT OR REPLACE deletes the row before without asking the trigger above, unless recursive triggers are on.
CREATE TRIGGER audit_log_refuses_replace BEFORE INSERT ON audit_log
  WHEN EXISTS (SELECT 1 FROM audit_log WHERE id = NEW.id)
  BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
