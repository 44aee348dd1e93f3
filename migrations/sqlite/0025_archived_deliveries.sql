-- Deliveries that are done, many in one compressed text: docs/adr/0039. The rows are back in their table before anything changes them.
CREATE TABLE delivery_archives (
  -- Of the last delivery in it. Others may have numbers in between that are not in it.
  last_id     INTEGER PRIMARY KEY,
  first_id    INTEGER NOT NULL CHECK (first_id <= last_id),
  newest_at   TEXT NOT NULL,
  deliveries  INTEGER NOT NULL CHECK (deliveries > 0),
  content     BLOB NOT NULL
) STRICT;

-- Hashes of their GUIDs.
CREATE TABLE archived_guids (
  hash       INTEGER NOT NULL,
  archive_id INTEGER NOT NULL,
  PRIMARY KEY (hash, archive_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER delivery_archives_counted_in AFTER INSERT ON delivery_archives BEGIN
  INSERT INTO status_counts VALUES ('delivery', 'done', NEW.deliveries) ON CONFLICT DO UPDATE SET count = count + NEW.deliveries;
END;
CREATE TRIGGER delivery_archives_counted_out AFTER DELETE ON delivery_archives BEGIN
  UPDATE status_counts SET count = count - OLD.deliveries WHERE subject = 'delivery' AND status = 'done';
END;

-- Without its foreign key: where a body is stays known when its delivery is archived.
CREATE TABLE new_delivery_bodies (
  delivery_id INTEGER PRIMARY KEY,
  pack_id     INTEGER NOT NULL REFERENCES body_packs (id),
  start       INTEGER NOT NULL CHECK (start >= 0),
  length      INTEGER NOT NULL CHECK (length >= 0)
) STRICT;
INSERT INTO new_delivery_bodies SELECT * FROM delivery_bodies;
DROP TABLE delivery_bodies;
ALTER TABLE new_delivery_bodies RENAME TO delivery_bodies;
CREATE INDEX delivery_bodies_by_pack ON delivery_bodies (pack_id);
