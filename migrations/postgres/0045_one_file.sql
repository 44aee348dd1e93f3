ALTER TABLE invocations ADD COLUMN one_file_json TEXT COLLATE "C";
