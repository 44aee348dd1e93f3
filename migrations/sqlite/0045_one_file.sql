-- The file that a review reads again by itself, and the artifact of the review whose other findings stay.
ALTER TABLE invocations ADD COLUMN one_file_json TEXT CHECK (json_valid(one_file_json));
