-- What version 46 adds: how long pull requests were open that were merged on a day.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO lead_figures (day, repository_id, bucket, count) VALUES ('2026-03-03', 70, 84, 2);
