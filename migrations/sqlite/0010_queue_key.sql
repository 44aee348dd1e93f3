-- The door records a delivery and nothing else; the queue makes its job from the key: docs/adr/0019. No key: the job has been made.
ALTER TABLE deliveries ADD COLUMN queue_key TEXT;
CREATE INDEX deliveries_to_queue ON deliveries (id) WHERE queue_key IS NOT NULL;
