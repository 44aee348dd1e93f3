-- Bodies that are recorded together lie together, compressed as one: docs/adr/0018. Those that were recorded before stay as they
-- were, each in a pack of its own.
CREATE TABLE body_packs (
  id       INTEGER PRIMARY KEY,
  encoding TEXT NOT NULL CHECK (encoding IN ('none', 'zstd')),
  bytes    BLOB NOT NULL
) STRICT;
INSERT INTO body_packs (id, encoding, bytes) SELECT delivery_id, 'none', body FROM delivery_bodies;

-- Where a delivery's body is in what its pack unpacks to, in bytes.
CREATE TABLE packed_bodies (
  delivery_id INTEGER PRIMARY KEY REFERENCES deliveries (id) ON DELETE CASCADE,
  pack_id     INTEGER NOT NULL REFERENCES body_packs (id),
  start       INTEGER NOT NULL CHECK (start >= 0),
  length      INTEGER NOT NULL CHECK (length >= 0)
) STRICT;
INSERT INTO packed_bodies (delivery_id, pack_id, start, length)
  SELECT delivery_id, delivery_id, 0, length(body) FROM delivery_bodies;

DROP TABLE delivery_bodies;
ALTER TABLE packed_bodies RENAME TO delivery_bodies;
CREATE INDEX delivery_bodies_by_pack ON delivery_bodies (pack_id);
