-- How far something outside was read, so that a restart goes on there: one row for each thing that is read bit by bit.
CREATE TABLE cursors (
  name          TEXT PRIMARY KEY,
  position_json TEXT NOT NULL CHECK (json_valid(position_json)),
  updated_at    TEXT NOT NULL
) STRICT;

-- Webhooks that GitHub sent and this app did not take, until they have come again.
CREATE TABLE missed_deliveries (
  guid         TEXT PRIMARY KEY,
  -- GitHub's number of the last attempt, by which it is asked for another.
  attempt_id   INTEGER NOT NULL,
  delivered_at TEXT NOT NULL,
  asked        INTEGER NOT NULL CHECK (asked >= 0),
  ask_at       TEXT NOT NULL
) STRICT;
CREATE INDEX missed_deliveries_by_time ON missed_deliveries (ask_at, delivered_at);
