-- What running sessions have printed so far, for people who follow them, in pieces of whole lines. The whole log becomes an artifact.
CREATE TABLE session_logs (
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  -- Where the piece ends, in bytes since the attempt began.
  position   INTEGER NOT NULL,
  run_id     TEXT NOT NULL,
  -- A session whose process died begins again.
  begun_at   TEXT NOT NULL,
  text       TEXT NOT NULL,
  PRIMARY KEY (session_id, position)
) STRICT;

-- With the result of a session, whoever records it, and without a statement for the sessions that printed nothing, which are nearly all.
-- A later migration that builds `sessions` anew makes this trigger again.
CREATE TRIGGER session_logs_end AFTER UPDATE OF status ON sessions BEGIN
  DELETE FROM session_logs WHERE session_id = NEW.id;
END;
