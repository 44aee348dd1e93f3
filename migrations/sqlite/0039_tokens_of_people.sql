-- Tokens that people make in Studio. They see no more than their owner.
ALTER TABLE api_tokens ADD COLUMN owner_id INTEGER;
ALTER TABLE api_tokens ADD COLUMN owner_login TEXT;
CREATE INDEX api_tokens_of_people ON api_tokens (owner_id, created_at) WHERE owner_id IS NOT NULL;
