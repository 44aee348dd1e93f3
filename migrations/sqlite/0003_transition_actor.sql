-- Who or what made it so; empty for what came before this was kept.
ALTER TABLE transitions ADD COLUMN actor_json TEXT CHECK (json_valid(actor_json));
