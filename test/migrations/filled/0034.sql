-- What version 34 adds: who is signed in to Studio, and the commands that they gave there.
-- Never changed once a later version exists: it stands for databases that people have.

INSERT INTO studio_sessions (token_hash, previous_hash, previous_until, person_id, login, sealed, signed_in_at, rotated_at, seen_at, expires_at) VALUES
  ('aa', NULL, NULL, 11, 'ada', x'00', '2026-01-06T10:00:00.000Z', '2026-01-06T10:00:00.000Z', '2026-01-06T10:00:00.000Z', '2026-01-07T10:00:00.000Z'),
  ('bb', 'cc', '2026-01-06T10:01:00.000Z', 12, 'mia', x'01', '2026-01-06T10:00:00.000Z', '2026-01-06T10:00:00.000Z', '2026-01-06T10:00:00.000Z', '2026-01-07T10:00:00.000Z');
INSERT INTO studio_commands (id, person_id, repository_id, asked_at, ok, reply) VALUES
  ('cmd_1', 11, 70, '2026-01-06T10:00:00.000Z', NULL, NULL),
  ('cmd_2', 12, 70, '2026-01-06T10:00:00.000Z', 1, 'Done.');
