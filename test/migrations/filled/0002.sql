-- What version 2 adds: a place far along and one at its beginning, and a delivery that is missed and one asked for often.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO cursors (name, position_json, updated_at) VALUES
  ('missed-deliveries', '{"until":41,"pass":{"newest":60,"next":"v1_50"}}', '2026-01-05T12:10:00.000Z'),
  ('reconcile:7', '{"after":0}', '2026-01-05T12:10:01.000Z');

INSERT INTO missed_deliveries (guid, attempt_id, delivered_at, asked, ask_at) VALUES
  ('b3d4-8', 9007199254740991, '2026-01-05T12:00:03.000Z', 0, '2026-01-05T12:10:00.000Z'),
  ('b3d4-9', 12, '2026-01-05T11:00:03.000Z', 7, '2026-01-05T17:10:00.000Z');
