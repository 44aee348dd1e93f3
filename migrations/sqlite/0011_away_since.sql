-- Since when a job cannot be done because GitHub is away, in tries that are not counted: docs/adr/0020. Until now they were, and
-- events and effects said in their payload, and effects in their progress, what is no longer read there.
ALTER TABLE jobs ADD COLUMN away_since TEXT;
UPDATE jobs SET attempts = 0, away_since = payload ->> 'since', payload = json_remove(payload, '$.since')
  WHERE kind IN ('delivery', 'event', 'effect');
UPDATE effects SET progress_json = json_remove(progress_json, '$.away') WHERE progress_json ->> 'away' IS NOT NULL;
