-- Whom a question notified, and what could not be sent; see src/domain/policy/notices.ts.
ALTER TABLE approvals ADD COLUMN notices_json TEXT;
