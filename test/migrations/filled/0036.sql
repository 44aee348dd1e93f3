-- What version 36 adds: the results of outcomes, for searches.
-- Never changed once a later version exists: it stands for databases that people have.

UPDATE artifacts SET result = 'passed APPROVE' WHERE id = 'art_1';
UPDATE run_archives SET results = char(10) || 'review_verdict passed APPROVE' || char(10);
