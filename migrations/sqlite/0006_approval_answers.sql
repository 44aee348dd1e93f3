-- What people said by a command or a button to a question about a step that merges nothing: the last word of each.
ALTER TABLE approvals ADD COLUMN answers_json TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(answers_json));
