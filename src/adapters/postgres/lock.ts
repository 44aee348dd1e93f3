/**
 * Waits for the lock that everybody has who writes, until the end of the transaction. Any number would do that no other program
 * uses in the same database; this one is "csgn" in ASCII. Locks of a session are out of the question: PgBouncer shares sessions.
 */
export const LOCK = 'SELECT pg_advisory_xact_lock(1668507502)';
