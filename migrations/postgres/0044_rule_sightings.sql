CREATE TABLE rule_sightings (
  repository_id BIGINT NOT NULL,
  rule          TEXT COLLATE "C" NOT NULL,
  pull_request  BIGINT NOT NULL,
  first_at      TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (repository_id, rule, pull_request)
);

CREATE TABLE forgotten_rules (
  repository_id BIGINT NOT NULL,
  rule          TEXT COLLATE "C" NOT NULL,
  forgotten_at  TEXT COLLATE "C" NOT NULL,
  by_login      TEXT COLLATE "C",
  PRIMARY KEY (repository_id, rule)
);

CREATE TABLE thread_replies (
  comment_id    BIGINT PRIMARY KEY,
  thread        BIGINT NOT NULL,
  repository_id BIGINT NOT NULL,
  pull_request  BIGINT NOT NULL,
  asked_by      TEXT COLLATE "C" NOT NULL,
  asked_at      TEXT COLLATE "C" NOT NULL
);
CREATE INDEX thread_replies_by_pull_request ON thread_replies (repository_id, pull_request, asked_at);
