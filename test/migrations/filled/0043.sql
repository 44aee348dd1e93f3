-- What version 43 adds: how repositories were when they were last read, and more figures by day.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO repository_states VALUES
  (70, 7, 'acme/rocket', 'main', 'observe', 'organisation', 1,
   '{"file":".github/countersign.yml","line":2,"column":1,"message":"unknown key"}', '2026-03-02T09:00:00.000Z'),
  (71, 7, 'acme/shop', 'main', 'comment', NULL, 0, NULL, '2026-03-02T09:00:00.000Z');
INSERT INTO daily_figures (day, repository_id, what, name, bucket, count, total) VALUES
  ('2026-03-02', 70, 'ended', 'would_merge', 0, 2, 2),
  ('2026-03-02', 70, 'answered', '', 60, 1, 310);
