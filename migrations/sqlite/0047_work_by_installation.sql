-- Whose work a job is; NULL is the app's own. Processes that share a database divide the work by it.
ALTER TABLE jobs ADD COLUMN installation_id INTEGER;
