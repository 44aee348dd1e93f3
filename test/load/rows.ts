import BetterSqlite3 from 'better-sqlite3';

/** The content of the database of a process that may still be running. */
export interface Rows {
  /** How many deliveries have which status. */
  deliveries: Record<string, number>;
  runs: Record<string, number>;
  /** Jobs that are due or under way, and effects that are not on GitHub yet. */
  unfinished: number;
}

export function readRows(path: string): Rows {
  const db = new BetterSqlite3(path, { readonly: true });
  try {
    const counts = (table: string): Record<string, number> =>
      Object.fromEntries(
        db.prepare(`SELECT status, count(*) FROM ${table} GROUP BY status`).raw().all() as [string, number][],
      );
    const unfinished = db
      .prepare(
        `SELECT (SELECT count(*) FROM jobs WHERE kind NOT IN ('wake', 'session'))
              + (SELECT count(*) FROM effects WHERE status = 'pending')`,
      )
      .pluck()
      .get();
    return { deliveries: counts('deliveries'), runs: counts('chain_runs'), unfinished: Number(unfinished) };
  } finally {
    db.close();
  }
}
