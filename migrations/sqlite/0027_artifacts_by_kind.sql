-- "All failed reviews of this week" reads the artifacts of one kind, newest first.
CREATE INDEX artifacts_by_kind ON artifacts (kind, created_at);
