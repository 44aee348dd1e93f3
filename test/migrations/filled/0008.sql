-- What version 8 adds: bodies that lie together in one pack.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO deliveries (id, guid, event, action, installation_id, received_at, status, attempts, error, finished_at) VALUES
  (4, 'b3d4-4', 'push', NULL, 7, '2026-01-05T12:00:03.000Z', 'done', 1, NULL, '2026-01-05T12:00:04.000Z'),
  (5, 'b3d4-5', 'push', NULL, 7, '2026-01-05T12:00:03.000Z', 'done', 1, NULL, '2026-01-05T12:00:04.000Z');
INSERT INTO body_packs (id, encoding, bytes) VALUES
  (4, 'zstd', x'28b52ffd24129100007b226f6e65223a317d7b2274776f223a327d9bf6c938');
INSERT INTO delivery_bodies (delivery_id, pack_id, start, length) VALUES (4, 4, 0, 9), (5, 4, 9, 9);
