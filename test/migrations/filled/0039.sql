-- What version 39 adds: tokens that people make for themselves.
-- Never changed once a later version exists: it stands for databases that people have.

UPDATE api_tokens SET owner_id = 10, owner_login = 'mia' WHERE id = 'tok_1';
