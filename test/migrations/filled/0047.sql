-- What version 47 adds: whose work a job is.
-- Never changed once a later version exists: it stands for databases that people have.

UPDATE jobs SET installation_id = 9 WHERE id = 4;
