-- Lists of firings read the newest first, and a run names the firings that its outcomes did not cause.
CREATE INDEX firings_by_due ON firings (due_at, id);
CREATE INDEX firings_by_run ON firings (run_id);

-- When the event happened, so that a row goes once nothing can report the event again. Rows of older versions count from now on.
ALTER TABLE fired_once ADD COLUMN fired_at TEXT NOT NULL DEFAULT '';
UPDATE fired_once SET fired_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now');

-- GitHub can report at any time that a pull request was merged or closed, so these rows stay.
CREATE INDEX fired_once_by_time ON fired_once (fired_at)
  WHERE subject NOT LIKE '["pr.merged"%' AND subject NOT LIKE '["pr.closed"%';
