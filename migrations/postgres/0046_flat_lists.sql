CREATE TABLE lead_figures (
  day           TEXT COLLATE "C" NOT NULL,
  repository_id BIGINT NOT NULL,
  bucket        BIGINT NOT NULL,
  count         BIGINT NOT NULL CHECK (count > 0),
  PRIMARY KEY (day, repository_id, bucket)
);

CREATE FUNCTION bucket_of_lead(seen_at TEXT, merged_at TEXT) RETURNS BIGINT LANGUAGE sql AS $$
  SELECT CAST(ceil(log(CAST(greatest(1,
      floor(extract(epoch FROM CAST(merged_at AS TIMESTAMP WITH TIME ZONE))) -
      floor(extract(epoch FROM CAST(seen_at AS TIMESTAMP WITH TIME ZONE)))) AS DOUBLE PRECISION))
    / log(CAST(1.1 AS DOUBLE PRECISION))) AS BIGINT)
$$;

INSERT INTO lead_figures
  SELECT substr(state_at, 1, 10), repository_id, bucket_of_lead(seen_at, state_at), count(*)
    FROM pull_requests WHERE state = 'merged' AND seen_at IS NOT NULL GROUP BY 1, 2, 3;

CREATE FUNCTION count_lead() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO lead_figures VALUES (substr(NEW.state_at, 1, 10), NEW.repository_id, bucket_of_lead(NEW.seen_at, NEW.state_at), 1)
    ON CONFLICT (day, repository_id, bucket) DO UPDATE SET count = lead_figures.count + 1;
  RETURN NULL;
END $$;
CREATE TRIGGER lead_figures_in AFTER INSERT ON pull_requests
  FOR EACH ROW WHEN (NEW.state = 'merged' AND NEW.seen_at IS NOT NULL) EXECUTE FUNCTION count_lead();
CREATE TRIGGER lead_figures_over AFTER UPDATE OF state, seen_at ON pull_requests
  FOR EACH ROW WHEN (NEW.state = 'merged' AND NEW.seen_at IS NOT NULL AND (OLD.state IS DISTINCT FROM 'merged' OR OLD.seen_at IS NULL))
  EXECUTE FUNCTION count_lead();
DROP INDEX pull_requests_lead;

CREATE INDEX chain_runs_of_repository ON chain_runs (repository, created_at, id);
