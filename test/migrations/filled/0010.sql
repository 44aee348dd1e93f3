-- What version 10 adds: a delivery that the queue has not taken yet.
-- Never changed once a later version exists: it stands for databases that people have.

UPDATE deliveries SET queue_key = 'pr:70#3' WHERE status = 'received';
