-- Which pull requests share a head: their gate check is one and the same.
CREATE INDEX pull_requests_by_head ON pull_requests (repository_id, head_sha);
