-- What people said on GitHub about the head of a question; see src/domain/policy/discussion.ts.
ALTER TABLE approvals ADD COLUMN reviews_json TEXT;
