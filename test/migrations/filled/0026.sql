-- What version 26 adds: whom a question notified.
-- Never changed once a later version exists: it stands for databases that people have.

UPDATE approvals SET notices_json = '{"sent":["first"],"people":["mia"],"problems":[]}' WHERE id = 'apr_1';
