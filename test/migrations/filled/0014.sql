-- Never changed once a later version exists: it stands for databases that people have.
INSERT INTO gate_protections (repository_id, branch, protection, read_at) VALUES (70, 'main', 'enforced', '2026-01-05T12:00:00.000Z');
