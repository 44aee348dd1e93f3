-- What version 25 adds: an archive of one delivery.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO delivery_archives (last_id, first_id, newest_at, deliveries, content)
  VALUES (0, 0, '2026-01-05T09:00:00.000Z', 1, X'0128B52FFD24AA8503008286151990A76D539EF683FD562EF67F33B6ED2E8FB10F069E19BBA204892CF0AE3A21683742D4F20A4CA098634E81F7430FAB861A6E79504AA815EF2D535A8C772E6C1BE89647D44A8EF7663DE82D0F285F835B16BC1F7B4409003507F039D40370C2B735672E40184A626EB66ECB17F364D185');
INSERT INTO archived_guids VALUES (123456789, 0);
-- Other tests count the deliveries of the tables.
UPDATE status_counts SET count = count - 1 WHERE subject = 'delivery' AND status = 'done';
