-- Who rejected, as [{ id, login }]: a rejection holds for its head until they countersign themselves. Empty for older rejections.
ALTER TABLE approvals ADD COLUMN rejected_by_json TEXT NOT NULL DEFAULT '[]';
