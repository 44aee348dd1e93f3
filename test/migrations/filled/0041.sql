-- What version 41 adds: findings that people accepted, and how often reviews found each rule.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO accepted_findings VALUES
  (1, 7, 'abc1234def5678abc1234def5678abc1234def56', '3f2a9c1', 'sql/drop-column', 'high', 'the column is empty', 10, 'mia', '2026-03-02T09:00:00.000Z');
INSERT INTO found_rules VALUES (1, 'sql/drop-column', 3, '2026-03-01T09:00:00.000Z', '2026-03-02T09:00:00.000Z');
