-- What version 45 adds: the file that a review reads again by itself.
-- Never changed once a later version exists: it stands for databases that people have.

UPDATE invocations SET one_file_json = '{"path":"src/greet.go","rest":"art_1"}' WHERE id = 'inv_1';
