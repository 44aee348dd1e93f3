/**
 * Waits for the lock that everybody has who writes, until the end of the transaction. Any number would do that no other program
 * uses in the same database; this one is "csgn" in ASCII. Locks of a session are out of the question: PgBouncer shares sessions.
 */
export const LOCK = 'SELECT pg_advisory_xact_lock(1668507502)';

/**
 * How long the server waits for the next statement of a transaction that has the lock, in milliseconds. Everybody else that writes
 * waits meanwhile, so it is shorter than the lease of a process that serves the database.
 */
export const IDLE_MS = 8_000;
