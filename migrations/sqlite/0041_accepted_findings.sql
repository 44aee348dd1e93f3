-- Findings that people accepted, for one head each. Kept for good: `countersign learn` counts them, and people write each of them.
CREATE TABLE accepted_findings (
  repository_id INTEGER NOT NULL,
  pull_request  INTEGER NOT NULL,
  head_sha      TEXT NOT NULL,
  -- The hash of its fingerprint; see src/domain/outcome/fingerprint.ts.
  finding       TEXT NOT NULL,
  rule          TEXT NOT NULL,
  severity      TEXT NOT NULL CHECK (severity IN ('critical', 'high', 'medium', 'low', 'info')),
  because       TEXT NOT NULL,
  by_id         INTEGER NOT NULL,
  by_login      TEXT NOT NULL,
  accepted_at   TEXT NOT NULL,
  PRIMARY KEY (repository_id, pull_request, head_sha, finding)
) STRICT, WITHOUT ROWID;

-- How often reviews found each rule. It outlives the reviews, so that what people accept can be compared with it.
CREATE TABLE found_rules (
  repository_id INTEGER NOT NULL,
  rule          TEXT NOT NULL,
  found         INTEGER NOT NULL,
  first_at      TEXT NOT NULL,
  last_at       TEXT NOT NULL,
  PRIMARY KEY (repository_id, rule)
) STRICT, WITHOUT ROWID;
