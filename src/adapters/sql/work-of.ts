import { sql } from 'kysely';

/**
 * The condition that a worker of PostgreSQL has the lease of the installation of a job or a delivery, which is the row that has the
 * condition. 0 stands for what belongs to none. On SQLite, nobody divides the work, and the table of leases does not exist.
 */
export function isWorkOf(worker: string) {
  return sql<boolean>`coalesce(installation_id, 0) IN (
    SELECT installation_leases.installation_id FROM installation_leases WHERE worker = ${worker}
  )`;
}
