-- Whether a branch requires the gate check, as last read from GitHub: the check says so to people. Nothing is decided by it.
CREATE TABLE gate_protections (
  repository_id INTEGER NOT NULL,
  branch        TEXT NOT NULL,
  protection    TEXT NOT NULL CHECK (protection IN ('enforced', 'any_app', 'open')),
  read_at       TEXT NOT NULL,
  PRIMARY KEY (repository_id, branch)
) STRICT;
