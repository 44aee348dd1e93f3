-- Since when a job cannot be done because GitHub is away: docs/adr/0020. What effects noted of that for themselves is no longer read.
ALTER TABLE jobs ADD COLUMN away_since TEXT;
UPDATE effects SET progress_json = json_remove(progress_json, '$.away') WHERE progress_json ->> 'away' IS NOT NULL;
