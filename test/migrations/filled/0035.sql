-- What version 35 adds: what lists of pull requests show, names that repositories had, and figures by day.
-- Never changed once a later version exists: it stands for databases that people have.

UPDATE pull_requests SET title = 'Greet people by name', author_id = 11, author_login = 'ada', seen_at = '2026-01-05T10:00:00.000Z'
  WHERE rowid = (SELECT min(rowid) FROM pull_requests);
INSERT INTO former_names (repository, repository_id, renamed_at) VALUES ('acme/old-rocket', 70, '2026-01-06T10:00:00.000Z');
INSERT INTO daily_figures (day, repository_id, what, name, bucket, count, total) VALUES
  ('2026-01-05', 70, 'waited', 'merge', 60, 2, 620),
  ('2026-01-05', 70, 'countersigned', 'mia', 0, 1, 1);
