-- What version 40 adds: what people said on GitHub about the head of a question.
-- Never changed once a later version exists: it stands for databases that people have.

UPDATE approvals SET reviews_json = '{"approved_by":["mia"],"discussion":null}' WHERE id = 'apr_1';
