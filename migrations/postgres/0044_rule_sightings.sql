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
