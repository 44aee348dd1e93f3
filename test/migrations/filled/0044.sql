-- What version 44 adds: on which pull requests reviews found each rule, rules that are shown again, and replies that are answered.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO rule_sightings VALUES (1, 'sql/drop-column', 7, '2026-03-01T09:00:00.000Z');
INSERT INTO forgotten_rules VALUES (1, 'sql/drop-column', '2026-03-03T09:00:00.000Z', 'mia'),
  (1, 'sql/add-index', '2026-03-03T09:00:00.000Z', NULL);
INSERT INTO thread_replies VALUES (501, 500, 1, 7, 'mia', '2026-03-03T09:00:00.000Z');
